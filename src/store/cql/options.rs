//! Where a cluster is and how to talk to it.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;

/// The CQL port of Cassandra and ScyllaDB.
pub(super) const DEFAULT_PORT: u16 = 9042;

/// Longer than the server's own timeouts for a lightweight transaction (1.8 s of contention, 2 s for a write), so
/// that its verdict usually comes first (S8).
pub(super) const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What bounds a timeout of these options.
const TIMEOUTS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(300);

/// How to reach the tables in a Cassandra or ScyllaDB cluster.
///
/// # Example
///
/// ```
/// use lamport_seq::store::cql::CqlOptions;
///
/// let options = CqlOptions::from_url("cassandra://app@db1,db2:9142/shop?dc=berlin")?
///     .password("not in the URL, where it would end in logs");
/// assert_eq!(options.location(), "cassandra://db1,db2:9142/shop");
/// # Ok::<(), lamport_seq::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CqlOptions {
    pub(super) scheme: &'static str,
    pub(super) hosts: Vec<Host>,
    pub(super) keyspace: String,
    pub(super) prefix: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) datacenter: Option<String>,
    pub(super) tls: Option<TlsFiles>,
    pub(super) addresses: HashMap<SocketAddr, SocketAddr>,
    pub(super) request_timeout: Duration,
    pub(super) connect_timeout: Duration,
}

/// A contact point: a name or an address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
}

/// The files of an encrypted connection, all PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsFiles {
    pub(super) ca: PathBuf,
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

impl CqlOptions {
    /// The cluster at `hosts`, written `host[:port][,host...]`, and a keyspace in it.
    ///
    /// The port is 9042 unless given; an IPv6 address is written in brackets. The name of the keyspace is compared
    /// letter by letter, unlike in CQL without quotes: 1 to 48 of `a-z A-Z 0-9 _`, a letter first.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] says what is wrong. Nothing is sent.
    pub fn new(hosts: &str, keyspace: &str) -> Result<Self, Error> {
        Ok(Self {
            scheme: "cassandra",
            hosts: super::url::hosts(hosts)?,
            keyspace: identifier("keyspace", keyspace)?,
            prefix: String::new(),
            user: None,
            password: None,
            datacenter: None,
            tls: None,
            addresses: HashMap::new(),
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
        })
    }

    /// Reads `cassandra://[user@]host[:port][,host...]/keyspace[?name=value&...]`, or `scylla://` alike.
    ///
    /// | parameter | default | meaning |
    /// |---|---|---|
    /// | `dc` | none | [`datacenter`](Self::datacenter) |
    /// | `tls` | `false` | whether connections are encrypted; `true` needs `ca` |
    /// | `ca`, `cert`, `key` | none | PEM files: [`tls`](Self::tls) and [`client_certificate`](Self::client_certificate) |
    /// | `prefix` | none | [`prefix`](Self::prefix) |
    /// | `request_timeout` | `3s` | [`request_timeout`](Self::request_timeout), in `s` or `ms` |
    /// | `map` | none | [`map_address`](Self::map_address), `PRIVATE:PORT=PUBLIC:PORT,...` |
    ///
    /// User, keyspace and values may be percent-encoded. There is no place for a password: a URL ends in logs, in
    /// process lists and in shell histories. Give it with [`password`](Self::password).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] says what is wrong, without repeating what might be a password. Nothing is sent.
    pub fn from_url(url: &str) -> Result<Self, Error> {
        super::url::parse(url)
    }

    /// The user to log in as. The default is none, for a cluster that asks for none.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The user's password. It appears in no error, log or [`Debug`] output. Without a user it is not used.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// The datacenter whose nodes are asked first. The default is none.
    ///
    /// It changes which node coordinates, not what is asked of the others: reads and writes are serial over all
    /// datacenters that the keyspace is replicated to (S8).
    pub fn datacenter(mut self, datacenter: impl Into<String>) -> Self {
        self.datacenter = Some(datacenter.into());
        self
    }

    /// What the names of the tables begin with. The default is nothing: `counters`, `sequences`, `lseq_meta`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if it is not 1 to 32 of `a-z A-Z 0-9 _`, a letter first.
    pub fn prefix(mut self, prefix: &str) -> Result<Self, Error> {
        self.prefix = table_prefix(prefix)?;
        Ok(self)
    }

    /// Encrypts the connections, and trusts the authorities in the PEM file `ca` alone. The default is plain text.
    ///
    /// The certificates of the nodes must name their addresses. Needs the feature `tls`.
    pub fn tls(mut self, ca: impl Into<PathBuf>) -> Self {
        self.tls.get_or_insert_default().ca = ca.into();
        self
    }

    /// Shows the nodes a certificate, for clusters with `require_client_auth`. Use it together with
    /// [`tls`](Self::tls). Both files are PEM.
    pub fn client_certificate(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.tls.get_or_insert_default().identity = Some((certificate.into(), key.into()));
        self
    }

    /// Reaches the node that calls itself `private` at `public`, for clusters behind forwarded ports.
    ///
    /// Nodes that are not mapped are reached as they call themselves. Contact points are never mapped.
    pub fn map_address(mut self, private: SocketAddr, public: SocketAddr) -> Self {
        self.addresses.insert(private, public);
        self
    }

    /// How long to wait for the answer to one statement, 100 ms to 5 min. The default is 3 s.
    ///
    /// It should be longer than the server's own timeouts (`cas_contention_timeout`, 1.8 s, and
    /// `write_request_timeout`, 2 s): an answer that comes too late leaves an unknown outcome, and a gap. A caller's
    /// deadline that comes first always wins.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// How long connecting may take in all, 100 ms to 5 min. The default is 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Where this is: the URL without user, password and parameters, but for a prefix.
    pub fn location(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        location(self.scheme, &hosts.join(","), &self.keyspace, &self.prefix)
    }

    /// What no setter can refuse.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_timeout("request_timeout", self.request_timeout)?;
        check_timeout("connect_timeout", self.connect_timeout)?;
        if self.tls.as_ref().is_some_and(|tls| tls.ca.as_os_str().is_empty()) {
            return Err(invalid(
                "a client certificate needs TLS: say `tls=true` and `ca=FILE`, the authority of the cluster",
            ));
        }
        Ok(())
    }
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::InvalidOption(message.into())
}

pub(super) fn check_timeout(name: &str, timeout: Duration) -> Result<(), Error> {
    if TIMEOUTS.contains(&timeout) {
        return Ok(());
    }
    Err(invalid(format!("{name} is {timeout:?}; it must be between 100 ms and 5 min")))
}

pub(super) fn location(scheme: &str, hosts: &str, keyspace: &str, prefix: &str) -> String {
    let query = if prefix.is_empty() { "" } else { "?prefix=" };
    format!("{scheme}://{hosts}/{keyspace}{query}{prefix}")
}

/// A name that can stand in CQL. It is quoted there all the same: `order` is a word of CQL.
pub(super) fn identifier(what: &str, name: &str) -> Result<String, Error> {
    name_of_length(what, name, 48)
}

/// As [`identifier`], shorter: Cassandra's limit is 48 characters for the whole name of a table.
pub(super) fn table_prefix(prefix: &str) -> Result<String, Error> {
    name_of_length("prefix", prefix, 32)
}

fn name_of_length(what: &str, name: &str, max: usize) -> Result<String, Error> {
    let fits = name.len() <= max
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !fits {
        return Err(invalid(format!(
            "the name of the {what} is not 1 to {max} of a-z A-Z 0-9 _, a letter first"
        )));
    }
    Ok(name.to_owned())
}

impl Host {
    pub(super) fn of(address: IpAddr, port: u16) -> Self {
        let name = address.to_string();
        Self { name, port }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]", self.name)?;
        } else {
            f.write_str(&self.name)?;
        }
        if self.port == DEFAULT_PORT {
            return Ok(());
        }
        write!(f, ":{}", self.port)
    }
}

impl fmt::Debug for CqlOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CqlOptions")
            .field("location", &self.location())
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("datacenter", &self.datacenter)
            .field("tls", &self.tls)
            .field("addresses", &self.addresses)
            .field("request_timeout", &self.request_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}
