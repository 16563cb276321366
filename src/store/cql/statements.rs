//! Every CQL statement of the store, with its consistency levels, idempotence and retry policy beside it (S8).

use std::sync::Arc;

use scylla::frame::response::result::TableSpec;
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::{Consistency, SerialConsistency, Statement};

/// The tables, and their names as they stand in CQL.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) keyspace: String,
    prefix: String,
}

/// How much of a row there is to compare with. S9: a null is written out, never bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Known {
    /// A value, a node and a birth.
    Born,
    /// An adopted row: it has no `created`.
    Adopted,
    /// An adopted row that no client has moved yet: it has no `node` either.
    ByHand,
}

/// What a statement does, for its text and for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Action {
    Read,
    Peek,
    ConfirmNoRow,
    Move(Known),
    Widen,
    Retire(Known),
    Revive(Known),
    Insert,
    ReadBirth,
    ConfirmNoBirth,
    WriteBirth,
    ReplaceBirth,
    ListFirst,
    ListAfter,
    ReadFormat,
    WriteFormat,
}

const COLUMNS: &str = "node, value, created, start_value, increment_by, min_value, max_value, strict, \
     retired, WRITETIME(node) AS node_written, WRITETIME(value) AS value_written";

/// The key of the row in `lseq_meta` that says how the tables are to be understood, and what this version writes.
pub(super) const FORMAT_KEY: &str = "format";
pub(super) const FORMAT: &str = "1";

impl Tables {
    pub(super) const COUNTERS: &str = "counters";
    pub(super) const SEQUENCES: &str = "sequences";
    pub(super) const META: &str = "lseq_meta";

    pub(super) fn new(keyspace: impl Into<String>, prefix: impl Into<String>) -> Self {
        let (keyspace, prefix) = (keyspace.into(), prefix.into());
        Self { keyspace, prefix }
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name of a table in its keyspace.
    pub(super) fn name(&self, table: &str) -> String {
        format!("{}{table}", self.prefix)
    }

    /// A table as it stands in CQL. Quoted, since `order` is a word of CQL and `Shop` is not `shop`.
    pub(super) fn cql(&self, table: &str) -> String {
        format!("{}.{}", quoted(&self.keyspace), quoted(&self.name(table)))
    }

    pub(super) fn spec(&self, action: Action) -> TableSpec<'static> {
        TableSpec::owned(self.keyspace.clone(), self.name(action.table()))
    }
}

/// Quotes a name only where it must be: CQL folds capitals, and a few words are its own.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !RESERVED.split(' ').any(|word| word == name) {
        return name.to_owned();
    }
    format!("\"{name}\"")
}

/// The reserved words of CQL, of all versions. One too many does no harm.
const RESERVED: &str = "add allow alter and any apply asc authorize batch begin by columnfamily create \
     default delete desc describe drop each_quorum entries execute from full grant if in index infinity \
     inet insert into is keyspace keyspaces limit local_one local_quorum materialized mbean mbeans modify \
     nan norecursive not null of on one or order password primary quorum rename replace revoke schema \
     select set table three to token truncate two unlogged unset update use using view where with";

impl Action {
    /// The verb of errors: "moving the row on: no answer within 3s".
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Read | Self::Peek => "reading the row",
            Self::ConfirmNoRow | Self::ConfirmNoBirth => "asking every replica for the name",
            Self::Move(_) => "moving the row on",
            Self::Widen => "widening the bounds",
            Self::Retire(_) => "marking the row as dropped",
            Self::Revive(_) => "reviving the row",
            Self::Insert => "inserting the row",
            Self::ReadBirth => "reading the birth",
            Self::WriteBirth | Self::ReplaceBirth => "writing the birth",
            Self::ListFirst | Self::ListAfter => "listing the rows",
            Self::ReadFormat => "reading the format of the tables",
            Self::WriteFormat => "writing the format of the tables",
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::ReadBirth | Self::ConfirmNoBirth | Self::WriteBirth | Self::ReplaceBirth => {
                Tables::SEQUENCES
            }
            Self::ReadFormat | Self::WriteFormat => Tables::META,
            _ => Tables::COUNTERS,
        }
    }

    /// The text, exactly as it is sent.
    pub(super) fn text(self, tables: &Tables) -> String {
        let table = tables.cql(self.table());
        // S4: the node as well as the value, since the same value by another hand is another row. S9: the value is
        // bound and not null, so a missing row never matches.
        let unless_moved = |known| match known {
            Known::Born => "value = ? AND node = ? AND created = ?",
            Known::Adopted => "value = ? AND node = ? AND created = null",
            Known::ByHand => "value = ? AND created = null",
        };
        match self {
            Self::Read => format!("SELECT {COLUMNS} FROM {table} WHERE name = ?"),
            Self::Peek => format!("SELECT node, value FROM {table} WHERE name = ?"),
            Self::ConfirmNoRow | Self::ConfirmNoBirth => {
                format!("SELECT name FROM {table} WHERE name = ?")
            }
            Self::Move(known) => format!(
                "UPDATE {table} SET node = ?, value = ? WHERE name = ? IF {}",
                unless_moved(known)
            ),
            // S4: touches neither value nor node.
            Self::Widen => format!(
                "UPDATE {table} SET min_value = ?, max_value = ? WHERE name = ? \
                 IF created = ? AND min_value = ? AND max_value = ?"
            ),
            Self::Retire(known) => format!(
                "UPDATE {table} SET retired = true WHERE name = ? IF {}",
                unless_moved(known)
            ),
            Self::Revive(known) => format!(
                "UPDATE {table} SET node = ?, value = ?, created = ?, start_value = ?, \
                 increment_by = ?, min_value = ?, max_value = ?, strict = ?, retired = false \
                 WHERE name = ? IF {}",
                unless_moved(known)
            ),
            Self::Insert => format!(
                "INSERT INTO {table} (name, node, value, created, start_value, increment_by, \
                 min_value, max_value, strict, retired) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
                 IF NOT EXISTS"
            ),
            Self::ReadBirth => format!("SELECT created FROM {table} WHERE name = ?"),
            Self::WriteBirth => format!(
                "INSERT INTO {table} (name, created, created_at) \
                 VALUES (?, ?, toTimestamp(now())) IF NOT EXISTS"
            ),
            Self::ReplaceBirth => {
                format!("UPDATE {table} SET created = ? WHERE name = ? IF created = ?")
            }
            Self::ListFirst => format!("SELECT name, {COLUMNS} FROM {table} LIMIT ?"),
            Self::ListAfter => {
                format!("SELECT name, {COLUMNS} FROM {table} WHERE token(name) > token(?) LIMIT ?")
            }
            Self::ReadFormat => format!("SELECT value FROM {table} WHERE key = '{FORMAT_KEY}'"),
            Self::WriteFormat => format!(
                "INSERT INTO {table} (key, value) VALUES ('{FORMAT_KEY}', '{FORMAT}') IF NOT EXISTS"
            ),
        }
    }

    /// S8: reads of one row that decide anything are serial. Writes are committed at QUORUM of all datacenters, and not
    /// of one: its losing could then take committed values along. SERIAL is no level to commit at.
    pub(super) fn consistency(self) -> Consistency {
        match self {
            Self::Read | Self::ReadBirth | Self::ReadFormat => Consistency::Serial,
            // S4: a hint, from one replica.
            Self::Peek => Consistency::One,
            // S6: a replica outside of every majority may be the only one that remembers.
            Self::ConfirmNoRow | Self::ConfirmNoBirth => Consistency::All,
            // Lists too: nothing is decided by them.
            _ => Consistency::Quorum,
        }
    }

    /// The statement, complete but for what differs from call to call: the time it may take and its route.
    pub(super) fn statement(self, tables: &Tables) -> Statement {
        let mut statement = Statement::new(self.text(tables));
        statement.set_consistency(self.consistency());
        by_the_rules(&mut statement);
        statement
    }
}

/// S8: what every statement has in common, whatever the session's own defaults are.
pub(super) fn by_the_rules(statement: &mut Statement) {
    // S8: not LOCAL_SERIAL, the driver's default: two datacenters would not meet.
    if !cfg!(planted_bug = "driver-serial-consistency") {
        statement.set_serial_consistency(Some(SerialConsistency::Serial));
    }
    // S8: the driver repeats nothing. Not idempotent, so there is no speculative execution either.
    statement.set_is_idempotent(false);
    if !cfg!(planted_bug = "driver-retry-policy") {
        statement.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Action; 22] = [
        Action::Read,
        Action::Peek,
        Action::ConfirmNoRow,
        Action::Move(Known::Born),
        Action::Move(Known::Adopted),
        Action::Move(Known::ByHand),
        Action::Widen,
        Action::Retire(Known::Born),
        Action::Retire(Known::Adopted),
        Action::Retire(Known::ByHand),
        Action::Revive(Known::Born),
        Action::Revive(Known::Adopted),
        Action::Revive(Known::ByHand),
        Action::Insert,
        Action::ReadBirth,
        Action::ConfirmNoBirth,
        Action::WriteBirth,
        Action::ReplaceBirth,
        Action::ListFirst,
        Action::ListAfter,
        Action::ReadFormat,
        Action::WriteFormat,
    ];

    #[test]
    fn the_statements_are_these() {
        let tables = Tables::new("shop", "");
        let texts: Vec<_> = ALL.iter().map(|action| action.text(&tables)).collect();
        let expected = [
            "SELECT node, value, created, start_value, increment_by, min_value, max_value, strict, retired, WRITETIME(node) AS node_written, WRITETIME(value) AS value_written FROM shop.counters WHERE name = ?",
            "SELECT node, value FROM shop.counters WHERE name = ?",
            "SELECT name FROM shop.counters WHERE name = ?",
            "UPDATE shop.counters SET node = ?, value = ? WHERE name = ? IF value = ? AND node = ? AND created = ?",
            "UPDATE shop.counters SET node = ?, value = ? WHERE name = ? IF value = ? AND node = ? AND created = null",
            "UPDATE shop.counters SET node = ?, value = ? WHERE name = ? IF value = ? AND created = null",
            "UPDATE shop.counters SET min_value = ?, max_value = ? WHERE name = ? IF created = ? AND min_value = ? AND max_value = ?",
            "UPDATE shop.counters SET retired = true WHERE name = ? IF value = ? AND node = ? AND created = ?",
            "UPDATE shop.counters SET retired = true WHERE name = ? IF value = ? AND node = ? AND created = null",
            "UPDATE shop.counters SET retired = true WHERE name = ? IF value = ? AND created = null",
            "UPDATE shop.counters SET node = ?, value = ?, created = ?, start_value = ?, increment_by = ?, min_value = ?, max_value = ?, strict = ?, retired = false WHERE name = ? IF value = ? AND node = ? AND created = ?",
            "UPDATE shop.counters SET node = ?, value = ?, created = ?, start_value = ?, increment_by = ?, min_value = ?, max_value = ?, strict = ?, retired = false WHERE name = ? IF value = ? AND node = ? AND created = null",
            "UPDATE shop.counters SET node = ?, value = ?, created = ?, start_value = ?, increment_by = ?, min_value = ?, max_value = ?, strict = ?, retired = false WHERE name = ? IF value = ? AND created = null",
            "INSERT INTO shop.counters (name, node, value, created, start_value, increment_by, min_value, max_value, strict, retired) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS",
            "SELECT created FROM shop.sequences WHERE name = ?",
            "SELECT name FROM shop.sequences WHERE name = ?",
            "INSERT INTO shop.sequences (name, created, created_at) VALUES (?, ?, toTimestamp(now())) IF NOT EXISTS",
            "UPDATE shop.sequences SET created = ? WHERE name = ? IF created = ?",
            "SELECT name, node, value, created, start_value, increment_by, min_value, max_value, strict, retired, WRITETIME(node) AS node_written, WRITETIME(value) AS value_written FROM shop.counters LIMIT ?",
            "SELECT name, node, value, created, start_value, increment_by, min_value, max_value, strict, retired, WRITETIME(node) AS node_written, WRITETIME(value) AS value_written FROM shop.counters WHERE token(name) > token(?) LIMIT ?",
            "SELECT value FROM shop.lseq_meta WHERE key = 'format'",
            "INSERT INTO shop.lseq_meta (key, value) VALUES ('format', '1') IF NOT EXISTS",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn s8_every_statement_sets_its_own_levels_and_repeats_nothing() {
        for action in ALL {
            let statement = action.statement(&Tables::new("shop", ""));
            let text = statement.contents.clone();
            let serial = Some(SerialConsistency::Serial);
            assert_eq!(statement.get_serial_consistency(), serial, "{text}");
            assert!(!statement.get_is_idempotent(), "{text}");
            let policy = format!("{:?}", statement.get_retry_policy());
            assert!(policy.contains("Fallthrough"), "{text}: {policy}");
            let level = statement.get_consistency();
            let expected = match action {
                Action::Read | Action::ReadBirth | Action::ReadFormat => Consistency::Serial,
                Action::Peek => Consistency::One,
                Action::ConfirmNoRow | Action::ConfirmNoBirth => Consistency::All,
                _ => Consistency::Quorum,
            };
            assert_eq!(level, Some(expected), "{text}");
        }
    }

    #[test]
    fn s9_every_write_has_a_condition() {
        for text in ALL.map(|action| action.text(&Tables::new("shop", ""))) {
            let writes = text.starts_with("UPDATE") || text.starts_with("INSERT");
            assert_eq!(writes, text.contains(" IF "), "{text}");
        }
    }

    #[test]
    fn names_are_quoted_where_cql_would_change_them() {
        let odd = Tables::new("Order", "x_");
        assert_eq!(odd.cql("counters"), "\"Order\".x_counters");
        assert_eq!(quoted("order"), "\"order\"");
        assert_eq!(quoted("orders"), "orders");
    }
}
