//! Characters that nobody sees, made visible: a name or a file that looks like another is told apart.

use std::borrow::Cow;

/// A line for a person to read: what is not drawn, or has what follows drawn in another order, is escaped as Rust does it.
pub(crate) fn visible(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_hidden) {
        return Cow::Borrowed(line);
    }
    let mut seen = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        if is_hidden(c) {
            seen.extend(c.escape_default());
        } else {
            seen.push(c);
        }
    }
    Cow::Owned(seen)
}

/// Controls, formats, blanks but for the space, what is not assigned; and letters and marks that are drawn as nothing.
fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Of Unicode's Default_Ignorable_Code_Point those that Rust takes for printable, and the blank of braille.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}' => true,
        // Behind a letter, so that marks that are drawn above it stay.
        _ => ['x', c].iter().collect::<String>().escape_debug().nth(1) == Some('\\'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_seen_stays_as_it_is() {
        for text in
            ["naïve", "o'brien", "\"a\\b\"", "हिन्दी", "ภาษาไทย", "注文", "e\u{301}", "🦀", ""]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn what_can_not_be_seen_is_escaped() {
        for (text, expected) in [
            ("a\u{202e}b", r"a\u{202e}b"),
            ("a\u{2066}b", r"a\u{2066}b"),
            ("a\u{200b}b", r"a\u{200b}b"),
            ("a\u{200d}b", r"a\u{200d}b"),
            ("\u{feff}a", r"\u{feff}a"),
            ("a\u{ad}b", r"a\u{ad}b"),
            ("a\u{a0}b", r"a\u{a0}b"),
            ("a\u{2028}b", r"a\u{2028}b"),
            ("a\u{e0041}b", r"a\u{e0041}b"),
            ("a\u{fe0f}b", r"a\u{fe0f}b"),
            ("a\u{3164}b", r"a\u{3164}b"),
            ("a\u{1b}[31m\t\n", r"a\u{1b}[31m\t\n"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}
