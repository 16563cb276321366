//! The statements that make the tables. They are the files in `cql/`, with the names of this store in them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::layout::EXPECTED;
use super::options::invalid;
use super::statements::{Tables, quoted};
use crate::error::Error;

const TABLES: &str = include_str!("../../../cql/tables.cql");

/// How many replicas a keyspace that is created gets.
///
/// Written `3` for three in every datacenter, or `dc1=3,dc2=3`.
///
/// ```
/// use lamport_seq::store::cql::Replication;
///
/// let replication: Replication = "dc1=3,dc2=3".parse()?;
/// assert_eq!(replication.to_string(), "dc1=3,dc2=3");
/// # Ok::<(), lamport_seq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replication {
    /// As many in every datacenter of the cluster.
    Everywhere(u32),
    /// As many in each of these datacenters, and none elsewhere.
    PerDatacenter(BTreeMap<String, u32>),
}

impl FromStr for Replication {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if !text.contains('=') {
            return factor(text, text).map(Self::Everywhere);
        }
        let mut datacenters = BTreeMap::new();
        for pair in text.split(',') {
            let (name, replicas) = pair.split_once('=').unwrap_or((pair, ""));
            let replicas = factor(replicas, text)?;
            if name.is_empty() || datacenters.insert(name.to_owned(), replicas).is_some() {
                return Err(malformed(text));
            }
        }
        Ok(Self::PerDatacenter(datacenters))
    }
}

fn factor(number: &str, whole: &str) -> Result<u32, Error> {
    let parsed = number.parse().ok();
    parsed.filter(|replicas| (1..=99).contains(replicas)).ok_or_else(|| malformed(whole))
}

fn malformed(text: &str) -> Error {
    invalid(format!(
        "replication `{}`: write a number of replicas, as 3, or one for each datacenter, as dc1=3,dc2=3",
        text.escape_debug()
    ))
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everywhere(replicas) => write!(f, "{replicas}"),
            Self::PerDatacenter(datacenters) => {
                let pairs = datacenters.iter().map(|(name, n)| format!("{name}={n}"));
                f.write_str(&pairs.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// The statement that makes the keyspace.
pub(super) fn keyspace(
    tables: &Tables,
    replicas: &BTreeMap<String, u32>,
    without_tablets: bool,
) -> String {
    let replicas = replicas.iter();
    let replicas = replicas.map(|(name, n)| format!(", '{}': {n}", name.replace('\'', "''")));
    let replicas = replicas.collect::<String>();
    let name = quoted(&tables.keyspace);
    // Lightweight transactions came to tablets with ScyllaDB 2025.4.
    let option = if without_tablets { "\n    AND tablets = {'enabled': false}" } else { "" };
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {name}\n    \
         WITH replication = {{'class': 'NetworkTopologyStrategy'{replicas}}}\n    \
         AND durable_writes = true{option}"
    )
}

/// The statement that makes one of the tables.
pub(super) fn table(tables: &Tables, table: &str) -> Option<String> {
    let begin = format!("CREATE TABLE IF NOT EXISTS lseq.{table} ");
    let statement = statements(TABLES).find(|text| text.starts_with(&begin))?;
    Some(statement.replace(&format!("lseq.{table}"), &tables.cql(table)))
}

/// The statement that adds what a table made by hand lacks.
pub(super) fn adopt(tables: &Tables, lacks: &[&str]) -> String {
    let columns = EXPECTED[0].columns.iter();
    let columns = columns.filter(|(name, _)| lacks.contains(name));
    let columns = columns.map(|(name, t)| format!("    {name} {t}"));
    let columns = columns.collect::<Vec<_>>().join(",\n");
    let table = tables.cql(Tables::COUNTERS);
    format!("ALTER TABLE {table} ADD (\n{columns}\n)")
}

/// The statements of a file, without comments and semicolons.
fn statements(file: &str) -> impl Iterator<Item = String> {
    let lines = file.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let statements: Vec<_> = text.split(';').map(|s| s.trim().to_owned()).collect();
    statements.into_iter().filter(|statement| !statement.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::cql::statements::Action;

    fn only(file: &str) -> String {
        let all: Vec<_> = statements(file).collect();
        assert_eq!(all.len(), 1);
        all[0].clone()
    }

    #[test]
    fn the_files_are_what_the_code_sends() {
        let lseq = Tables::new("lseq", "");
        let three = BTreeMap::from([("datacenter1".to_owned(), 3)]);
        assert_eq!(keyspace(&lseq, &three, false), only(include_str!("../../../cql/keyspace.cql")));
        let lacks: Vec<_> = EXPECTED[0].columns[3..].iter().map(|(name, _)| *name).collect();
        assert_eq!(adopt(&lseq, &lacks), only(include_str!("../../../cql/adopt.cql")));
        let mut file = statements(TABLES);
        for expected in &EXPECTED {
            assert_eq!(table(&lseq, expected.table), file.next());
        }
        assert_eq!(file.next().unwrap(), Action::WriteFormat.text(&lseq));
        assert_eq!(file.next(), None);
    }

    #[test]
    fn the_files_have_the_columns_that_are_checked() {
        for expected in &EXPECTED {
            let statement = table(&Tables::new("shop", "x_"), expected.table).unwrap();
            let name = format!("shop.x_{}", expected.table);
            assert!(statement.contains(&name), "{statement}");
            for (column, column_type) in expected.columns {
                assert!(statement.contains(&format!("    {column} {column_type}")), "{statement}");
            }
            assert!(statement.contains("default_time_to_live = 0"), "{statement}");
        }
    }

    #[test]
    fn scylladb_gets_a_keyspace_without_tablets() {
        let one = BTreeMap::from([("dc'1".to_owned(), 1)]);
        let statement = keyspace(&Tables::new("Shop", ""), &one, true);
        assert!(statement.contains("\"Shop\"") && statement.contains("'dc''1': 1"), "{statement}");
        assert!(statement.ends_with("AND tablets = {'enabled': false}"), "{statement}");
    }

    #[test]
    fn replication_is_read_or_refused_in_words() {
        let of = |text: &str| text.parse::<Replication>();
        assert_eq!(of("3").unwrap(), Replication::Everywhere(3));
        let two = BTreeMap::from([("a".to_owned(), 3), ("b".to_owned(), 2)]);
        assert_eq!(of("a=3,b=2").unwrap(), Replication::PerDatacenter(two));
        for bad in ["", "0", "-1", "100", "x", "a=", "=3", "a=3,", "a=3,a=3", "a=0", "3,a=3"] {
            assert!(of(bad).unwrap_err().to_string().contains("dc1=3,dc2=3"), "{bad}");
        }
    }
}
