//! `lseq status`

use lamport_seq::SequenceInfo;
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
\"min_value\":..,\"max_value\":..,\"strict\":..,\"defined\":..,\"retired\":..,\"remaining\":..,
\"used_percent\":..}. tag is null as long as nobody has reserved; defined is false in an adopted table.")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// Exit with 1 if more than this share of the ids is used, 0 to 100
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    fail_above: Option<f64>,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = super::name(&self.name)?;
        let client = context.connect()?;
        let info = client.wait(client.catalog().get(&name))?;
        context.printer.answer(text(&info), &object(&info))?;
        let used = info.used_percent();
        let (share, remaining) = (share(&info), info.remaining());
        let message =
            format!("sequence `{name}` has used {share} of its ids, {remaining} are left");
        match self.fail_above {
            Some(most) if used > most => {
                let bound = if info.definition.increment_by() > 0 { "max" } else { "min" };
                let hint = format!(
                    "`lseq alter --{bound} N {}` widens it, if the column that takes the ids can hold more",
                    name.shell_argument()
                );
                return Err(Failure::refused(message).hint(hint).into());
            }
            _ if used >= WARN_PERCENT => context.printer.warning(&message),
            _ => {}
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
    let SequenceInfo { name, timestamp, definition, .. } = info;
    let origin = if info.defined { "" } else { " (not stored: an adopted table)" };
    let state = if info.retired { "\nstate        dropped" } else { "" };
    let (value, remaining, used) = (timestamp.value, info.remaining(), share(info));
    format!(
        "sequence     {name}\nvalue        {value}\nlast writer  {writer}\n\
         definition   {definition}{origin}\nremaining    {remaining}\nused         {used}{state}"
    )
}

/// The share that is used, for people. Only what is used up is 100 %, and only what is unused is 0 %.
pub(super) fn share(info: &SequenceInfo) -> String {
    let unused = info.remaining() == info.definition.capacity();
    percent_text(info.used_percent(), unused, info.remaining() == 0)
}

fn percent_text(used: f64, unused: bool, used_up: bool) -> String {
    match (used * 100.0).floor() / 100.0 {
        _ if unused => "0 %".to_owned(),
        _ if used_up => "100 %".to_owned(),
        percent if percent < 0.01 => "< 0.01 %".to_owned(),
        percent if percent > 99.99 => "> 99.99 %".to_owned(),
        percent => format!("{percent:.2} %"),
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
        assert_eq!(percent_text(0.0, true, false), "0 %");
        assert_eq!(percent_text(0.0, false, false), "< 0.01 %");
        assert_eq!(percent_text(1e-12, false, false), "< 0.01 %");
        assert_eq!(percent_text(12.345, false, false), "12.34 %");
        assert_eq!(percent_text(99.999, false, false), "99.99 %");
        assert_eq!(percent_text(100.0, false, false), "> 99.99 %");
        assert_eq!(percent_text(100.0, false, true), "100 %");
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
