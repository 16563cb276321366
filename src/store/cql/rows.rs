//! Rows as the servers send them, decoded by the names of their columns.
//!
//! The answer to a conditional statement has other columns on Cassandra than on ScyllaDB, and others when it was
//! applied than when it was not, so nothing may be decoded by position.

use scylla::deserialize::row::{ColumnIterator, DeserializeRow};
use scylla::deserialize::value::DeserializeValue;
use scylla::deserialize::{DeserializationError, FrameSlice, TypeCheckError};
use scylla::frame::response::result::{ColumnSpec, ColumnType, NativeType};
use uuid::Uuid;

use crate::definition::Definition;
use crate::store::{Row, Swapped, WriteTimes};
use crate::timestamp::LamportTimestamp;

/// The answer to a conditional statement: whether it was applied and, if not, sometimes the timestamp in its way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    applied: Option<bool>,
    value: Option<i64>,
    node: Option<Uuid>,
}

impl Verdict {
    /// `None` if the answer says nothing of the kind.
    pub(super) fn outcome(self) -> Option<Swapped> {
        // ScyllaDB sends the OLD row along with `applied = true`: it is dropped here.
        let found = timestamp(self.value, self.node);
        let unless = Swapped::NotApplied { found };
        self.applied.map(|applied| if applied { Swapped::Applied } else { unless })
    }
}

/// A timestamp, where both of its halves are there.
fn timestamp(value: Option<i64>, node: Option<Uuid>) -> Option<LamportTimestamp> {
    value.zip(node).map(|(value, node)| LamportTimestamp::new(value, node))
}

/// One row of `counters`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) name: Option<String>,
    node: Option<Uuid>,
    value: Option<i64>,
    created: Option<Uuid>,
    start_value: Option<i64>,
    increment_by: Option<i64>,
    min_value: Option<i64>,
    max_value: Option<i64>,
    strict: Option<bool>,
    retired: Option<bool>,
    node_written: Option<i64>,
    value_written: Option<i64>,
}

impl Counter {
    /// The register, or what is wrong with it (S9).
    pub(super) fn row(&self) -> Result<Row, String> {
        let Some(value) = self.value else {
            return Err("its value is null".to_owned());
        };
        // Whatever is born here has a node from the beginning, and no condition matches without.
        if self.created.is_some() && self.node.is_none() {
            return Err("its node is null".to_owned());
        }
        let (value_us, node_us) = (self.value_written, self.node_written);
        Ok(Row {
            timestamp: LamportTimestamp::new(value, self.node.unwrap_or_default()),
            created: self.created,
            definition: self.definition()?,
            retired: self.retired.unwrap_or(false),
            written: Some(WriteTimes { value_us, node_us }),
        })
    }

    /// The timestamp alone, where the row has both of its halves.
    pub(super) fn timestamp(&self) -> Option<LamportTimestamp> {
        timestamp(self.value, self.node)
    }

    /// S9: all columns of the definition, or none of them in a table that was made by hand.
    fn definition(&self) -> Result<Option<Definition>, String> {
        let Self { created, start_value, increment_by, min_value, max_value, strict, .. } = self;
        let here = [
            ("created", created.is_some()),
            ("start_value", start_value.is_some()),
            ("increment_by", increment_by.is_some()),
            ("min_value", min_value.is_some()),
            ("max_value", max_value.is_some()),
            ("strict", strict.is_some()),
        ];
        if here.iter().all(|(_, here)| !here) {
            return Ok(None);
        }
        if let Some((missing, _)) = here.iter().find(|(_, here)| !here) {
            return Err(format!("a part of its definition is missing: {missing} is null"));
        }
        let builder = Definition::builder()
            .start_value(start_value.unwrap_or_default())
            .increment_by(increment_by.unwrap_or_default())
            .min_value(min_value.unwrap_or_default())
            .max_value(max_value.unwrap_or_default())
            .strict(strict.unwrap_or_default());
        let definition =
            builder.build().map_err(|error| format!("its definition can't be: {error}"))?;
        Ok(Some(definition))
    }
}

/// The one column `created` of `sequences`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Birth {
    pub(super) created: Option<Uuid>,
}

/// Implements the driver's trait for a struct whose fields are named like the columns. Unknown columns are skipped
/// and missing ones stay empty; a known column of another type is an error.
macro_rules! decode_by_name {
    ($row:ident { $($column:literal => $field:ident: $type:ty,)* }) => {
        impl<'frame, 'metadata> DeserializeRow<'frame, 'metadata> for $row {
            fn type_check(specs: &[ColumnSpec<'_>]) -> Result<(), TypeCheckError> {
                specs.iter().try_for_each(|spec| match spec.name() {
                    $($column => <Option<$type>>::type_check(spec.typ()),)*
                    _ => Ok(()),
                })
            }

            fn deserialize(columns: ColumnIterator<'frame, 'metadata>) -> Result<Self, DeserializationError> {
                let mut row = Self::default();
                for column in columns {
                    let column = column?;
                    let (spec, cell) = (column.spec, column.slice);
                    match spec.name() {
                        $($column => row.$field = decode(spec.typ(), cell)?,)*
                        _ => {}
                    }
                }
                Ok(row)
            }
        }
    };
}

fn decode<'frame, 'metadata, T>(
    column_type: &'metadata ColumnType<'metadata>,
    cell: Option<FrameSlice<'frame>>,
) -> Result<Option<T>, DeserializationError>
where
    Option<T>: DeserializeValue<'frame, 'metadata>,
{
    <Option<T>>::deserialize(column_type, cell)
}

impl<'frame, 'metadata> DeserializeRow<'frame, 'metadata> for Verdict {
    fn type_check(specs: &[ColumnSpec<'_>]) -> Result<(), TypeCheckError> {
        let mut applied = specs.iter().filter(|spec| spec.name() == "[applied]");
        applied.try_for_each(|spec| <Option<bool>>::type_check(spec.typ()))
    }

    fn deserialize(
        columns: ColumnIterator<'frame, 'metadata>,
    ) -> Result<Self, DeserializationError> {
        let mut verdict = Self::default();
        for column in columns {
            let column = column?;
            let (spec, cell) = (column.spec, column.slice);
            match (spec.name(), spec.typ()) {
                ("[applied]", column_type) => verdict.applied = decode(column_type, cell)?,
                // A hint, and of another type in a table that is not of sequences.
                ("value", bigint @ ColumnType::Native(NativeType::BigInt)) => {
                    verdict.value = decode(bigint, cell)?;
                }
                ("node", uuid @ ColumnType::Native(NativeType::Uuid)) => {
                    verdict.node = decode(uuid, cell)?;
                }
                _ => {}
            }
        }
        Ok(verdict)
    }
}

decode_by_name!(Counter {
    "name" => name: String,
    "node" => node: Uuid,
    "value" => value: i64,
    "created" => created: Uuid,
    "start_value" => start_value: i64,
    "increment_by" => increment_by: i64,
    "min_value" => min_value: i64,
    "max_value" => max_value: i64,
    "strict" => strict: bool,
    "retired" => retired: bool,
    "node_written" => node_written: i64,
    "value_written" => value_written: i64,
});

decode_by_name!(Birth {
    "created" => created: Uuid,
});

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::frame::response::result::TableSpec;

    /// A cell as it goes over the wire: a type, and its bytes or null.
    type Cell = (NativeType, Option<Vec<u8>>);

    fn bigint(value: i64) -> Cell {
        (NativeType::BigInt, Some(value.to_be_bytes().to_vec()))
    }

    fn uuid(value: u128) -> Cell {
        (NativeType::Uuid, Some(value.to_be_bytes().to_vec()))
    }

    fn boolean(value: bool) -> Cell {
        (NativeType::Boolean, Some(vec![u8::from(value)]))
    }

    fn text(value: &str) -> Cell {
        (NativeType::Text, Some(value.as_bytes().to_vec()))
    }

    fn null(cell: Cell) -> Cell {
        (cell.0, None)
    }

    /// Decodes a row of these columns as the driver would.
    fn decoded<T>(columns: &[(&str, Cell)]) -> Result<T, String>
    where
        T: for<'f, 'm> DeserializeRow<'f, 'm>,
    {
        let table = TableSpec::borrowed("shop", "counters");
        let spec = |name: &str, native: &NativeType| {
            let column_type = ColumnType::Native(native.clone());
            ColumnSpec::owned(name.to_owned(), column_type, table.to_owned())
        };
        let specs: Vec<_> = columns.iter().map(|(name, (t, _))| spec(name, t)).collect();
        let mut frame = Vec::new();
        for (_, (_, bytes)) in columns {
            let length = bytes.as_ref().map_or(-1, |b| i32::try_from(b.len()).unwrap());
            frame.extend(length.to_be_bytes());
            frame.extend(bytes.iter().flatten());
        }
        T::type_check(&specs).map_err(|error| error.to_string())?;
        let row = ColumnIterator::new(&specs, FrameSlice::new_borrowed(&frame));
        T::deserialize(row).map_err(|error| error.to_string())
    }

    fn verdict(columns: &[(&str, Cell)]) -> Option<Swapped> {
        decoded::<Verdict>(columns).unwrap().outcome()
    }

    #[test]
    fn every_shape_of_a_verdict_is_understood() {
        let yes = || ("[applied]", boolean(true));
        let no = || ("[applied]", boolean(false));
        let stands = |value: Option<i64>| {
            let found = value.map(|value| LamportTimestamp::new(value, Uuid::from_u128(1)));
            Some(Swapped::NotApplied { found })
        };
        assert_eq!(verdict(&[yes()]), Some(Swapped::Applied));
        // A row that was made by hand is compared without its node, which is then not told.
        assert_eq!(verdict(&[no(), ("value", bigint(7))]), stands(None));
        assert_eq!(
            verdict(&[no(), ("name", text("s")), ("node", uuid(1)), ("value", bigint(7))]),
            stands(Some(7))
        );
        assert_eq!(verdict(&[no(), ("node", uuid(1)), ("value", bigint(7))]), stands(Some(7)));
        // The row is missing: the condition's columns are not there, or null.
        assert_eq!(verdict(&[no()]), stands(None));
        assert_eq!(verdict(&[no(), ("value", null(bigint(0)))]), stands(None));
        // The table of formats has values too.
        assert_eq!(verdict(&[no(), ("value", text("1"))]), stands(None));
        // A widening is conditional on other columns.
        assert_eq!(verdict(&[no(), ("created", uuid(1)), ("min_value", bigint(7))]), stands(None));
    }

    #[test]
    fn the_old_row_that_scylladb_sends_with_an_applied_write_is_not_used() {
        let columns = [("[applied]", boolean(true)), ("value", bigint(7))];
        assert_eq!(verdict(&columns), Some(Swapped::Applied));
    }

    #[test]
    fn an_answer_without_a_verdict_is_none() {
        assert_eq!(verdict(&[("value", bigint(7))]), None);
        assert_eq!(verdict(&[("[applied]", null(boolean(true)))]), None);
        assert!(decoded::<Verdict>(&[("[applied]", bigint(1))]).is_err());
    }

    fn defined() -> Vec<(&'static str, Cell)> {
        vec![
            ("extra", text("of a later version")),
            ("value", bigint(-9)),
            ("node", uuid(5)),
            ("created", uuid(6)),
            ("start_value", bigint(-1)),
            ("increment_by", bigint(-2)),
            ("min_value", bigint(i64::MIN)),
            ("max_value", bigint(-1)),
            ("strict", boolean(true)),
            ("retired", boolean(true)),
            ("node_written", bigint(100)),
            ("value_written", bigint(101)),
        ]
    }

    fn row(columns: &[(&str, Cell)]) -> Result<Row, String> {
        decoded::<Counter>(columns)?.row()
    }

    #[test]
    fn a_whole_row_is_read() {
        let row = row(&defined()).unwrap();
        let expected = Definition::builder().start_value(-1).increment_by(-2).strict(true);
        assert_eq!(row.definition, Some(expected.build().unwrap()));
        assert_eq!(row.timestamp, LamportTimestamp::new(-9, Uuid::from_u128(5)));
        assert_eq!(row.created, Some(Uuid::from_u128(6)));
        assert!(row.retired);
        let (value_us, node_us) = (Some(101), Some(100));
        assert_eq!(row.written, Some(WriteTimes { value_us, node_us }));
    }

    #[test]
    fn a_row_of_a_table_made_by_hand_is_read() {
        let columns = [("node", null(uuid(0))), ("value", bigint(5))];
        let row = row(&columns).unwrap();
        assert_eq!(row.timestamp, LamportTimestamp::new(5, Uuid::nil()));
        assert_eq!((row.definition, row.created), (None, None));
        assert!(!row.retired);
    }

    #[test]
    fn s9_a_row_in_pieces_is_corrupt() {
        for broken in
            ["value", "node", "created", "start_value", "increment_by", "max_value", "strict"]
        {
            let mut columns = defined();
            for (name, cell) in &mut columns {
                if *name == broken {
                    cell.1 = None;
                }
            }
            let error = row(&columns).unwrap_err();
            assert!(error.contains(broken), "{broken}: {error}");
        }
    }

    #[test]
    fn s9_a_definition_that_cannot_be_is_corrupt() {
        let mut columns = defined();
        columns[5] = ("increment_by", bigint(0));
        assert!(row(&columns).unwrap_err().contains("must not be 0"));
    }

    #[test]
    fn s9_a_column_of_another_type_is_refused() {
        assert!(row(&[("value", text("7"))]).is_err());
    }
}
