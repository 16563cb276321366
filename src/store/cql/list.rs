//! Listings, page by page in the order of the ring.

use std::sync::Arc;

use tokio::time::Instant;

use super::client::Client;
use super::rows::Counter;
use super::statements::Action;
use crate::definition::SequenceName;
use crate::store::{Listed, StoreError};

/// How many rows are asked for at once.
const PAGE: u32 = 1000;

/// Up to `limit` sequences after `after`.
///
/// Rows whose name can't be a sequence's are skipped: nobody can open them. (Two names with the same 64-bit token
/// would be one step in this order; nothing is decided by a list.)
pub(super) async fn list(
    client: &Arc<Client>,
    after: Option<&SequenceName>,
    limit: u32,
    deadline: Instant,
) -> Result<Vec<Listed>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let mut last = after.map(|name| name.as_str().to_owned());
    while listed.len() < limit {
        let wanted = i32::try_from(limit - listed.len()).unwrap_or(i32::MAX);
        let wanted = wanted.min(i32::try_from(PAGE).unwrap_or(i32::MAX));
        let rows = page(client, last.as_deref(), wanted, deadline).await?;
        let full = i32::try_from(rows.len()).is_ok_and(|found| found == wanted);
        last = rows.last().and_then(|row| row.name.clone());
        listed.extend(rows.iter().filter_map(line));
        if !full {
            break;
        }
    }
    Ok(listed)
}

async fn page(
    client: &Arc<Client>,
    after: Option<&str>,
    wanted: i32,
    deadline: Instant,
) -> Result<Vec<Counter>, StoreError> {
    match after {
        None => client.read(Action::ListFirst, None, (wanted,), deadline).await,
        Some(name) => client.read(Action::ListAfter, None, (name, wanted), deadline).await,
    }
}

fn line(row: &Counter) -> Option<Listed> {
    let name = row.name.as_deref()?;
    match SequenceName::try_from(name) {
        Ok(name) => Some(Listed { name, row: row.row() }),
        Err(error) => {
            tracing::debug!("a row is not listed: {error}");
            None
        }
    }
}
