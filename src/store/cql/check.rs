//! What is checked once, before anything else is sent (S9).

use std::sync::Arc;

use tokio::time::Instant;

use super::client::Client;
use super::layout::{self, EXPECTED, Expected, Finding, Layout};
use super::statements::{Action, FORMAT, Known, quoted};
use crate::store::{StoreError, StoreErrorKind};

/// What every client needs at once. The others are prepared when they are first needed.
const HOT: [Action; 3] = [Action::Read, Action::ReadBirth, Action::Move(Known::Born)];

const INIT: &str = "create what is missing with `lseq init`";

pub(super) async fn check(client: &Arc<Client>, deadline: Instant) -> Result<(), StoreError> {
    let layout = layout::agreed(client, deadline).await?;
    keyspace(client, &layout)?;
    for expected in &EXPECTED {
        table(client, &layout, expected)?;
    }
    let format = format(client, deadline).await?;
    understood(format.as_deref())?;
    // S13: while no node is stuck, so that one that gets stuck later holds nobody up.
    for action in HOT {
        client.prepared(action, deadline).await?;
    }
    Ok(())
}

fn refused(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Refused, message)
}

fn keyspace(client: &Arc<Client>, layout: &Layout) -> Result<(), StoreError> {
    let name = quoted(&client.tables.keyspace);
    match &layout.keyspace {
        None => Err(refused(format!("there is no keyspace {name}")).with_hint(INIT)),
        Some(keyspace) if !keyspace.durable_writes => Err(refused(format!(
            "keyspace {name} has durable_writes = false: a crash would set its sequences back"
        ))
        .with_hint(format!("`ALTER KEYSPACE {name} WITH durable_writes = true`"))),
        Some(_) => Ok(()),
    }
}

fn table(client: &Arc<Client>, layout: &Layout, expected: &Expected) -> Result<(), StoreError> {
    let table = client.tables.cql(expected.table);
    match expected.judge(layout, &client.tables) {
        Finding::Fine => Ok(()),
        Finding::Missing => Err(refused(format!("there is no table {table}")).with_hint(INIT)),
        Finding::Lacks(columns) => Err(by_hand(&table, &columns)),
        Finding::Wrong { what, hint } => Err(refused(what).with_hint(hint)),
    }
}

/// The refusal of a table that has not been adopted.
pub(super) fn by_hand(table: &str, lacks: &[&str]) -> StoreError {
    let lacks = lacks.join(", ");
    refused(format!("table {table} was made by hand: it has no {lacks}"))
        .with_hint("adopt it with `lseq init --adopt`")
}

/// The format that the tables say they have.
pub(super) async fn format(
    client: &Arc<Client>,
    deadline: Instant,
) -> Result<Option<String>, StoreError> {
    let rows: Vec<(Option<String>,)> = client.read(Action::ReadFormat, None, (), deadline).await?;
    Ok(rows.into_iter().next().and_then(|(value,)| value))
}

/// S9: tables of another format are left alone.
pub(super) fn understood(format: Option<&str>) -> Result<(), StoreError> {
    match format {
        Some(FORMAT) => Ok(()),
        None => Err(refused("the tables don't say which format they have")
            .with_hint("`lseq init` was not finished: run it again")),
        Some(other) => Err(refused(format!(
            "the tables have format `{}`, and this version understands `{FORMAT}`",
            other.escape_debug()
        ))
        .with_hint("use a version of lamport-seq that understands it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s9_an_unknown_format_is_named() {
        assert!(understood(Some("1")).is_ok());
        let error = understood(Some("7")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Refused);
        assert!(error.to_string().contains("`7`") && error.to_string().contains("`1`"));
        assert!(understood(None).unwrap_err().hint().is_some());
    }
}
