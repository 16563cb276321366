//! Passwords that stand where they should not, and how they are kept out of sight.

/// The `user:password` of a URL that holds one.
///
/// It goes up to the last `@`, whatever is in it: a password that was not encoded must not slip through.
pub(crate) fn credentials(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (credentials, _) = rest.rsplit_once('@')?;
    credentials.contains(':').then_some(credentials)
}

/// `text` without the passwords that stand in this process' arguments. Nothing is printed but through here.
pub(crate) fn redact(text: &str) -> String {
    let arguments = std::env::args_os().skip(1);
    redact_all(text, arguments.map(|argument| argument.to_string_lossy().into_owned()))
}

fn redact_all(text: &str, arguments: impl Iterator<Item = String>) -> String {
    let mut text = text.to_owned();
    for argument in arguments {
        if let Some(credentials) = credentials(&argument) {
            text = text.replace(credentials, "...");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_however_it_is_written() {
        for (url, found) in [
            ("cassandra://shop:secret@host/ids", Some("shop:secret")),
            ("cassandra://:secret@host/ids", Some(":secret")),
            ("cassandra://shop:a/b?c#d@e f@host/ids", Some("shop:a/b?c#d@e f")),
            ("--store=scylla://shop:secret@host/ids", Some("shop:secret")),
            ("cassandra://shop@host:9042/ids", None),
            ("cassandra://host:9042/ids?dc=dc1", None),
            ("sqlite:/tmp/a:b@c", None),
            ("orders", None),
        ] {
            assert_eq!(credentials(url), found, "{url}");
        }
    }

    #[test]
    fn what_is_redacted_is_gone() {
        let url = "cassandra://shop:secret@host/ids".to_owned();
        let text = format!("unexpected argument '{url}' found");
        let text = redact_all(&text, [url].into_iter());
        assert_eq!(text, "unexpected argument 'cassandra://...@host/ids' found");
    }
}
