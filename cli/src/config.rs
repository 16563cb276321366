//! The configuration file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::duration;
use crate::failure::Failure;

const KEYS: &str = "store, password, password_file and timeout";

/// What a configuration file says.
#[derive(Default)]
pub(crate) struct Config {
    pub(crate) store: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) password_file: Option<PathBuf>,
    pub(crate) timeout: Option<Duration>,
}

impl Config {
    pub(crate) fn read(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let text = crate::settings::read_small(path, patience).map_err(|error| {
            Failure::usage(format!("can't read the configuration file {}", path.display()))
                .source(error)
                .hint("--config and LSEQ_CONFIG name a TOML file; leave them out to use none")
        })?;
        Self::parse(&text).map_err(|(at, problem)| {
            let line = text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
            Failure::usage(format!("{}, line {line}: {problem}", path.display()))
                .hint(format!("its keys are {KEYS}, all with a text as value: timeout = \"10s\""))
        })
    }

    /// The configuration, or what is wrong and where. No value is ever repeated: it may be a password.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            (at, format!("not TOML: {}", error.message()))
        })?;
        let mut config = Self::default();
        for (key, value) in table.get_ref() {
            let (at, name) = (key.span().start, key.get_ref().as_ref());
            if !["store", "password", "password_file", "timeout"].contains(&name) {
                return Err((at, format!("unknown key `{name}`")));
            }
            let DeValue::String(value) = value.get_ref() else {
                return Err((at, format!("`{name}` must be a text in quotes")));
            };
            if value.is_empty() {
                return Err((at, format!("`{name}` is empty")));
            }
            let value = value.to_string();
            match name {
                "store" => config.store = Some(value),
                "password" => config.password = Some(value),
                "password_file" => config.password_file = Some(value.into()),
                _ => {
                    let timeout = duration::parse(&value);
                    config.timeout = Some(timeout.map_err(|why| (at, format!("`{name}`: {why}")))?);
                }
            }
        }
        if config.password.is_some() && config.password_file.is_some() {
            return Err((0, "both `password` and `password_file` are given".to_owned()));
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, String) {
        Config::parse(text).err().unwrap()
    }

    #[test]
    fn all_keys_are_read() {
        let text = "store = \"sqlite:ids.db\"\npassword = 'p'\ntimeout = \"1m30s\" # long\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.store.as_deref(), Some("sqlite:ids.db"));
        assert_eq!(config.password.as_deref(), Some("p"));
        assert_eq!(config.timeout, Some(Duration::from_secs(90)));
        assert_eq!(config.password_file, None);
    }

    #[test]
    fn a_wrong_line_is_named_and_no_value_is_repeated() {
        assert_eq!(problem("\nstor = \"x\""), (1, "unknown key `stor`".to_owned()));
        for text in [
            "password = 5150515",
            "password = 5150515x",
            "password = \"5150515",
            "password = [\"5150515\"]",
            "password = \"5150515\"\npassword_file = \"f\"",
            "timeout = \"5150515\"",
            "[password]\nx = 5150515",
            "password = \"\"",
            "password = \"5150515\"\npassword = \"5150515\"",
        ] {
            let (_, problem) = problem(text);
            assert!(!problem.contains("5150515"), "{text}: {problem}");
        }
    }
}
