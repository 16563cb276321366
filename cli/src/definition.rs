//! A sequence's definition, on the command line and in the output.

use clap::{Args, ValueEnum};
use lamport_seq::{Definition, Error};
use serde_json::{Map, Value, json};

/// The flags of a definition; what is not given is PostgreSQL's default.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Definition")]
pub(crate) struct DefinitionArgs {
    /// The first id [default: the minimum of a rising sequence, the maximum of a falling one]
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    start: Option<i64>,
    /// The distance from one id to the next; negative for a falling sequence [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    increment: Option<i64>,
    /// The smallest id [default: 1, or the type's smallest for a falling sequence]
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    min: Option<i64>,
    /// The largest id [default: the type's largest, or -1 for a falling sequence]
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    max: Option<i64>,
    /// What the ids must fit into [default: bigint]
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "max")]
    column: Option<Column>,
}

/// What ids are stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Column {
    /// 32 bits: up to 2147483647
    Int,
    /// 64 bits: up to 9223372036854775807
    Bigint,
    /// What a JavaScript number holds exactly: up to 9007199254740991
    Js,
}

impl Column {
    /// The smallest and the largest value.
    pub(crate) fn bounds(self) -> (i64, i64) {
        let safe = (1 << 53) - 1;
        match self {
            Self::Int => (i32::MIN.into(), i32::MAX.into()),
            Self::Bigint => (i64::MIN, i64::MAX),
            Self::Js => (-safe, safe),
        }
    }
}

impl DefinitionArgs {
    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        *self != Self::default()
    }

    pub(crate) fn build(&self) -> Result<Definition, Error> {
        let mut builder = Definition::builder();
        builder = match self.column {
            Some(Column::Int) => builder.int(),
            Some(Column::Js) => builder.javascript_safe(),
            Some(Column::Bigint) | None => builder,
        };
        if let Some(id) = self.start {
            builder = builder.start_value(id);
        }
        if let Some(increment) = self.increment {
            builder = builder.increment_by(increment);
        }
        if let Some(id) = self.min {
            builder = builder.min_value(id);
        }
        if let Some(id) = self.max {
            builder = builder.max_value(id);
        }
        Ok(builder.build()?)
    }
}

/// A definition's members in JSON.
pub(crate) fn members(definition: &Definition) -> Map<String, Value> {
    let members = json!({
        "start_value": definition.start_value(),
        "increment_by": definition.increment_by(),
        "min_value": definition.min_value(),
        "max_value": definition.max_value(),
        "strict": definition.is_strict(),
    });
    match members {
        Value::Object(members) => members,
        _ => unreachable!("an object was written"),
    }
}
