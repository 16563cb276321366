//! `lseq status`

use lamport_seq::{SequenceInfo, SequenceName};
use serde_json::{Value, json};

use super::Context;
use crate::definition;
use crate::exit::Exit;
use crate::failure::Failure;

/// From this share on, somebody should think of what comes after.
const WARN_PERCENT: f64 = 90.0;

/// Show how far a sequence has come
///
/// From 90 % on it warns. The tag names the generator that wrote last; it is drawn when a generator opens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"sequence\":..,\"value\":..,\"node\":..,\"tag\":..,\"start_value\":..,\"increment_by\":..,
\"min_value\":..,\"max_value\":..,\"strict\":..,\"defined\":..,\"retired\":..,\"remaining\":..,\"used_percent\":..}")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// Exit with 1 if more than this share of the ids is used, 0 to 100
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = SequenceName::new(self.name)?;
        let client = context.connect()?;
        let info = client.wait(client.catalog().get(&name))?;
        context.printer.answer(text(&info), &object(&info))?;
        let used = info.used_percent();
        let (share, remaining) = (percent_text(used), info.remaining());
        if self.fail_above.is_some_and(|most| used > most) {
            let message =
                format!("sequence `{name}` has used {share} of its ids, {remaining} are left");
            let hint = format!(
                "`lseq alter --max N {}` widens it, if the column that takes the ids can hold more",
                super::word(&name)
            );
            return Err(Failure::refused(message).hint(hint).into());
        }
        if used >= WARN_PERCENT {
            let warning =
                format!("sequence `{name}` has used {share} of its ids, {remaining} are left");
            context.printer.warning(&warning);
        }
        Ok(Exit::Done)
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match percent {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a share is a number from 0 to 100".to_owned()),
    }
}

fn text(info: &SequenceInfo) -> String {
    let writer = match info.timestamp.tag() {
        Some(tag) => tag,
        None if info.timestamp.node.is_nil() => "nobody yet".to_owned(),
        None => info.timestamp.node.to_string(),
    };
    let mut text = format!(
        "sequence     {}\nvalue        {}\nlast writer  {writer}\ndefinition   {}",
        info.name, info.timestamp.value, info.definition
    );
    if !info.defined {
        text += " (not stored: an adopted table)";
    }
    text += &format!(
        "\nremaining    {}\nused         {}",
        info.remaining(),
        percent_text(info.used_percent())
    );
    if info.retired {
        text += "\nstate        dropped";
    }
    text
}

/// A share for people. Only what is used up entirely is 100 %, and only what is unused is 0 %.
pub(super) fn percent_text(used: f64) -> String {
    match used {
        0.0 => "0 %".to_owned(),
        100.0 => "100 %".to_owned(),
        _ if used < 0.01 => "< 0.01 %".to_owned(),
        _ => format!("{:.2} %", (used * 100.0).floor() / 100.0),
    }
}

/// What is known of a sequence, as an object.
pub(super) fn object(info: &SequenceInfo) -> Value {
    let mut object = json!({
        "sequence": info.name.as_str(),
        "value": info.timestamp.value,
        "node": info.timestamp.node.to_string(),
        "tag": info.timestamp.tag(),
    });
    let rest = json!({
        "defined": info.defined,
        "retired": info.retired,
        "remaining": info.remaining(),
        "used_percent": info.used_percent(),
    });
    if let (Value::Object(members), Value::Object(mut rest)) = (&mut object, rest) {
        members.append(&mut definition::members(&info.definition));
        members.append(&mut rest);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_never_looks_rounder_than_it_is() {
        assert_eq!(percent_text(0.0), "0 %");
        assert_eq!(percent_text(1e-12), "< 0.01 %");
        assert_eq!(percent_text(99.999), "99.99 %");
        assert_eq!(percent_text(100.0), "100 %");
    }

    #[test]
    fn a_share_is_read_with_or_without_its_sign() {
        assert_eq!(percent("90"), Ok(90.0));
        assert_eq!(percent("99.5%"), Ok(99.5));
        for text in ["", "-1", "101", "NaN", "inf", "ninety"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
