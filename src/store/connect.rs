//! From a URL to a store, for code that does not care which one it is.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use super::StoreHandle;
use crate::builder::{TIMEOUT, TIMEOUTS};
use crate::error::Error;
use crate::runtime;

/// Connects to a store; made by [`StoreHandle::connect`]. Await it, or call
/// [`connect_blocking`](Self::connect_blocking).
#[derive(Clone)]
#[must_use = "nothing is connected until it is awaited"]
pub struct Connect {
    url: String,
    password: Option<String>,
    timeout: Duration,
    create: bool,
}

impl StoreHandle {
    /// Starts connecting to the store at `url`; await what it returns, or call one of its methods.
    ///
    /// | URL | store | feature |
    /// |---|---|---|
    /// | `cassandra://[user@]host[:port][,host...]/keyspace[?...]` | Apache Cassandra | `cassandra` |
    /// | `scylla://...`, alike | ScyllaDB | `cassandra` |
    /// | `sqlite:FILE` | an embedded file | `sqlite` |
    ///
    /// What follows the scheme is read by the store itself: see `CqlOptions::from_url` and `SqliteStore`. A URL
    /// holds no password, since it ends in logs, process lists and shell histories: see
    /// [`password`](Connect::password).
    ///
    /// # Example: an embedded file
    ///
    #[cfg_attr(feature = "sqlite", doc = "```")]
    #[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
    /// use lamport_seq::{Catalog, Definition, Sequence, StoreHandle};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), lamport_seq::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite:{}/ids.db", folder.path().display());
    /// let store = StoreHandle::connect(url).await?;
    /// Catalog::new(&store).create("orders", Definition::default()).await?;
    /// let orders = Sequence::open(&store, "orders").await?;
    /// assert_eq!(orders.next_id().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Example: a cluster that asks for a password
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use lamport_seq::StoreHandle;
    ///
    /// let store = StoreHandle::connect("cassandra://shop@db1,db2/ids?dc=dc1")
    ///     .password(std::env::var("SHOP_PASSWORD")?)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(url: impl Into<String>) -> Connect {
        Connect { url: url.into(), password: None, timeout: TIMEOUT, create: true }
    }
}

impl Connect {
    /// The password of the user that the URL names. The default is none. A store that asks for none ignores it.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// How long connecting may take, 1 ms to 1 h. The default is 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether an embedded file is made if there is none; its folder must be there. The default is `true`. The
    /// tables in a cluster are never made by connecting.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Connects, blocking this thread; for code without a runtime. The connection is kept up by a thread that the
    /// library starts for itself.
    ///
    /// # Errors
    ///
    /// As awaiting it.
    ///
    /// # Panics
    ///
    /// If the operating system has no thread to give.
    pub fn connect_blocking(self) -> Result<StoreHandle, Error> {
        runtime::block_on(self.into_future())
    }

    async fn connect(self) -> Result<StoreHandle, Error> {
        if !TIMEOUTS.contains(&self.timeout) {
            let message = format!("timeout {:?} is not between 1 ms and 1 h", self.timeout);
            return Err(Error::InvalidOption(message));
        }
        match self.url.split_once(':') {
            Some(("sqlite", _)) => self.sqlite().await,
            Some(("cassandra" | "scylla", _)) => self.cassandra().await,
            // Only what is certainly no secret is repeated.
            Some((scheme, _)) if is_scheme(scheme) => Err(Error::InvalidOption(format!(
                "no store has the URL scheme `{scheme}:`; {}",
                known()
            ))),
            _ => Err(Error::InvalidOption(format!(
                "the store's URL begins with no scheme; {}",
                known()
            ))),
        }
    }

    #[cfg(feature = "sqlite")]
    async fn sqlite(self) -> Result<StoreHandle, Error> {
        use super::sqlite::SqliteStore;

        let path = self.url.strip_prefix("sqlite:").unwrap_or_default();
        if path.is_empty() {
            let message = "the store's URL names no file; write sqlite:FILE";
            return Err(Error::InvalidOption(message.to_owned()));
        }
        let began = tokio::time::Instant::now();
        let opening = SqliteStore::builder(path).timeout(self.timeout).create(self.create);
        let store = opening.open().await.map_err(|source| {
            let location = self.url.as_str().into();
            // Only tables may have been made, and opening again finds them.
            if source.is_passing() {
                Error::Unavailable { location, waited: began.elapsed(), source: Some(source) }
            } else {
                Error::Refused { location, source }
            }
        })?;
        Ok(StoreHandle::new(store))
    }

    #[cfg(not(feature = "sqlite"))]
    async fn sqlite(self) -> Result<StoreHandle, Error> {
        std::future::ready(Err(lacking("sqlite"))).await
    }

    #[cfg(feature = "cassandra")]
    async fn cassandra(self) -> Result<StoreHandle, Error> {
        use super::cql::{CqlOptions, CqlStore};

        let timeout = self.timeout.clamp(Duration::from_millis(100), Duration::from_secs(300));
        let mut options = CqlOptions::from_url(&self.url)?.connect_timeout(timeout);
        if let Some(password) = self.password {
            options = options.password(password);
        }
        Ok(StoreHandle::new(CqlStore::connect(options).await?))
    }

    #[cfg(not(feature = "cassandra"))]
    async fn cassandra(self) -> Result<StoreHandle, Error> {
        std::future::ready(Err(lacking("cassandra"))).await
    }
}

impl IntoFuture for Connect {
    type Output = Result<StoreHandle, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Connects. Reads and writes nothing of any sequence.
    ///
    /// Its errors are [`Error::InvalidOption`] for a URL that can't be one, [`Error::Refused`] and
    /// [`Error::Unavailable`]: nothing was changed, but that an embedded file may have been made.
    ///
    /// Dropping the future closes what was opened.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}

impl fmt::Debug for Connect {
    /// Without the URL, which may hold what it should not, and without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 20
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// What this build can connect to.
fn known() -> String {
    let mut forms = Vec::new();
    if cfg!(feature = "sqlite") {
        forms.push("sqlite:FILE");
    }
    if cfg!(feature = "cassandra") {
        forms.extend(["cassandra://HOST/KEYSPACE", "scylla://HOST/KEYSPACE"]);
    }
    match forms.split_last() {
        None => "this build knows no store".to_owned(),
        Some((last, [])) => format!("this build knows {last}"),
        Some((last, forms)) => format!("this build knows {} and {last}", forms.join(", ")),
    }
}

#[cfg(not(all(feature = "sqlite", feature = "cassandra")))]
fn lacking(feature: &str) -> Error {
    Error::InvalidOption(format!(
        "this build lacks the feature `{feature}` of lamport-seq; {}",
        known()
    ))
}
