//! What is in the file: its format, its tables, and how a register is written in them.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::failure::{Failure, corrected};
use crate::definition::{Definition, SequenceName};
use crate::store::{Listed, Row, StoreError, StoreErrorKind};
use crate::timestamp::LamportTimestamp;

/// "lseq" in ASCII, in the header of every file of ours: another application's database is never written to.
const APPLICATION_ID: i64 = 0x6c73_6571;
/// The version of the tables. A file with a larger one was made by a later version of this library.
const FORMAT: i64 = 1;

/// Uuids are text, so that a person at a SQLite prompt can read them. `lseq_meta` repeats the format in the place
/// where the tables of a cluster hold it.
const SCHEMA: &str = "
    CREATE TABLE counters (
        name TEXT PRIMARY KEY,
        node TEXT NOT NULL,
        value INTEGER NOT NULL,
        created TEXT,
        start_value INTEGER,
        increment_by INTEGER,
        min_value INTEGER,
        max_value INTEGER,
        strict INTEGER,
        retired INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sequences (
        name TEXT PRIMARY KEY,
        created TEXT NOT NULL,
        created_at INTEGER NOT NULL -- milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE lseq_meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO lseq_meta (key, value) VALUES ('format', '1');
    PRAGMA user_version = 1;
    PRAGMA application_id = 1819501937;
";

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing is in it yet.
    Nothing,
    /// Sequences, in the format that this version reads and writes.
    Sequences,
}

/// Tells whose file it is, and refuses what is not ours to write. Call it in a transaction.
pub(super) fn inspect(connection: &Connection) -> Result<Content, Failure> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    let path = connection.path().unwrap_or_default();
    match (application, format, objects) {
        (APPLICATION_ID, FORMAT, _) => Ok(Content::Sequences),
        (0, 0, 0) => Ok(Content::Nothing),
        (APPLICATION_ID, ..) => Err(corrected(
            format!("{path} has tables of format {format}, and this version of lamport-seq knows format {FORMAT}"),
            "use the version of lamport-seq that made the file, or a later one",
        )
        .into()),
        _ => Err(corrected(
            format!("{path} is another application's SQLite database"),
            "name a file of its own for the sequences; this one was left as it is",
        )
        .into()),
    }
}

/// Makes the tables. Call it in a transaction.
pub(super) fn create(connection: &Connection) -> Result<(), Failure> {
    Ok(connection.execute_batch(SCHEMA)?)
}

const COLUMNS: &str =
    "node, value, created, start_value, increment_by, min_value, max_value, strict, retired";

/// The register, if there is one. S9: a row that is none is Corrupt.
pub(super) fn read(connection: &Connection, name: &SequenceName) -> Result<Option<Row>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM counters WHERE name = ?1");
    let found = connection
        .prepare_cached(&sql)?
        .query_row([name.as_str()], |row| Ok(decode(row)))
        .optional()?;
    found.transpose().map_err(|why| corrupt(name, &why).into())
}

/// Writes the whole register, over the one that the same transaction has read.
pub(super) fn write(
    connection: &Connection,
    name: &SequenceName,
    row: &Row,
) -> Result<(), Failure> {
    let sql = format!(
        "INSERT OR REPLACE INTO counters (name, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    );
    let definition = row.definition.as_ref();
    connection.prepare_cached(&sql)?.execute(params![
        name.as_str(),
        row.timestamp.node.to_string(),
        row.timestamp.value,
        row.created.map(|created| created.to_string()),
        definition.map(Definition::start_value),
        definition.map(Definition::increment_by),
        definition.map(Definition::min_value),
        definition.map(Definition::max_value),
        definition.map(Definition::is_strict),
        row.retired,
    ])?;
    Ok(())
}

/// The identity that was written at birth, if there is one.
pub(super) fn read_birth(
    connection: &Connection,
    name: &SequenceName,
) -> Result<Option<Uuid>, Failure> {
    let sql = "SELECT created FROM sequences WHERE name = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([name.as_str()], |row| Ok(uuid(row, 0)))
        .optional()?;
    found.transpose().map_err(|why| corrupt(name, &why).into())
}

/// Writes a birth, over the one that the same transaction has read.
pub(super) fn write_birth(
    connection: &Connection,
    name: &SequenceName,
    created: Uuid,
) -> Result<(), Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    let sql = "INSERT OR REPLACE INTO sequences (name, created, created_at) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![name.as_str(), created.to_string(), now_ms])?;
    Ok(())
}

/// Up to `limit` registers in the order of their names' bytes, from the one after `after` on.
pub(super) fn list(
    connection: &Connection,
    after: Option<&SequenceName>,
    limit: u32,
) -> Result<Vec<Listed>, Failure> {
    let sql = format!("SELECT {COLUMNS}, name FROM counters WHERE name > ?1 ORDER BY name");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([after.map_or("", SequenceName::as_str)])?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    while listed.len() < limit
        && let Some(row) = rows.next()?
    {
        let name: String = row.get("name")?;
        match SequenceName::new(name.as_str()) {
            Ok(name) => listed.push(Listed { name, row: decode(row) }),
            // Nothing can be asked of it, so it can't be listed either.
            Err(why) => tracing::warn!(
                "a row of `counters` is left out, its name {name:?} can't be one: {why}"
            ),
        }
    }
    Ok(listed)
}

/// A register from the columns [`COLUMNS`], or what is wrong with it.
fn decode(row: &rusqlite::Row<'_>) -> Result<Row, String> {
    let timestamp = LamportTimestamp::new(column(row, 1)?, uuid(row, 0)?);
    let created = match column::<Option<String>>(row, 2)? {
        Some(_) => Some(uuid(row, 2)?),
        None => None,
    };
    let numbers: [Option<i64>; 4] =
        [column(row, 3)?, column(row, 4)?, column(row, 5)?, column(row, 6)?];
    let definition = match (numbers, column::<Option<bool>>(row, 7)?) {
        ([None, None, None, None], None) => None,
        ([Some(start), Some(increment), Some(min), Some(max)], Some(strict)) => {
            let definition = Definition::builder().start_value(start).increment_by(increment);
            let definition = definition.min_value(min).max_value(max).strict(strict).build();
            Some(definition.map_err(|why| why.to_string())?)
        }
        // S9: half a definition is none.
        _ => return Err("some columns of its definition are null, and some are not".to_owned()),
    };
    let retired = column(row, 8)?;
    Ok(Row { timestamp, created, definition, retired, written: None })
}

fn column<T: FromSql>(row: &rusqlite::Row<'_>, index: usize) -> Result<T, String> {
    row.get(index).map_err(|error| error.to_string())
}

fn uuid(row: &rusqlite::Row<'_>, index: usize) -> Result<Uuid, String> {
    let text: String = column(row, index)?;
    Uuid::try_parse(&text).map_err(|error| format!("`{text}` is no uuid: {error}"))
}

fn corrupt(name: &SequenceName, why: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the row of sequence `{name}` can't be used: {why}"),
    )
}
