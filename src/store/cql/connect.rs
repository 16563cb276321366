//! From options to a session.

use std::collections::{BTreeSet, HashMap};
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::SelfIdentity;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::TranslationError;
use scylla::policies::address_translator::{AddressTranslator, UntranslatedPeer};
use tokio::time::Instant;

use super::options::{CqlOptions, DEFAULT_PORT, invalid};
use super::reason;
use crate::error::Error;
use crate::store::{StoreError, StoreErrorKind};

/// How long a silent node may hold up a session that is being built, less the answer's own time: the driver has no
/// other bound for a node that accepts connections and says nothing.
const KEEPALIVE: Duration = Duration::from_millis(1500);

/// How long a node may take to say that it is alive: the request timeout, within these bounds.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// Connects, within the options' time.
pub(super) async fn session(options: &CqlOptions) -> Result<Session, Error> {
    options.check()?;
    let builder = builder(options)?;
    let began = Instant::now();
    let built = tokio::time::timeout(options.connect_timeout, builder.build()).await;
    let failure = match built {
        Ok(Ok(session)) => {
            datacenter_is_there(options, &session)?;
            return Ok(session);
        }
        Ok(Err(error)) => reason::session(&error).into_error("can't connect"),
        Err(_) => {
            let message = format!("no answer within {:?}", options.connect_timeout);
            StoreError::new(StoreErrorKind::NotApplied, message)
        }
    };
    let failure = match failure.hint() {
        Some(_) => failure,
        None => failure.with_hint("is the cluster up, and are host and port right?"),
    };
    let location = options.location().into();
    Err(match failure.kind() {
        StoreErrorKind::NotApplied => {
            Error::Unavailable { location, waited: began.elapsed(), source: Some(failure) }
        }
        _ => Error::Refused { location, source: failure },
    })
}

/// A datacenter that is not there would be preferred in vain, and nobody would notice.
fn datacenter_is_there(options: &CqlOptions, session: &Session) -> Result<(), Error> {
    let Some(wanted) = &options.datacenter else {
        return Ok(());
    };
    let cluster = session.get_cluster_state();
    let nodes = cluster.get_nodes_info().iter();
    let known: BTreeSet<_> = nodes.filter_map(|node| node.datacenter.as_deref()).collect();
    // The driver starts without metadata if it can't read it.
    if known.is_empty() || known.contains(wanted.as_str()) {
        return Ok(());
    }
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(invalid(format!(
        "there is no datacenter `{}`: the cluster has {known}",
        wanted.escape_debug()
    )))
}

fn builder(options: &CqlOptions) -> Result<SessionBuilder, Error> {
    // The driver tries one contact point after the other, and then waits for every node.
    let steps = u32::try_from(options.hosts.len() + 2).unwrap_or(u32::MAX);
    let step = options.connect_timeout / steps;
    let hosts = options.hosts.iter().map(contact_point);
    let identity = SelfIdentity::new()
        .with_application_name(env!("CARGO_PKG_NAME"))
        .with_application_version(env!("CARGO_PKG_VERSION"));
    let mut builder = SessionBuilder::new()
        .known_nodes(hosts)
        .connection_timeout(step)
        .hostname_resolution_timeout(Some(step))
        .keepalive_interval(KEEPALIVE)
        .keepalive_timeout(options.request_timeout.clamp(PATIENCE.0, PATIENCE.1))
        .metadata_request_clientside_timeout(options.connect_timeout)
        // Replica lists come from the keyspace's metadata; other keyspaces are of no use.
        .keyspaces_to_fetch([options.keyspace.clone()])
        .fetch_schema_metadata(true)
        .compression(None)
        .custom_identity(identity)
        .driver_config_reporting(false);
    if let Some(datacenter) = &options.datacenter {
        builder = builder.prefer_datacenter(datacenter.clone());
    }
    if let Some(user) = &options.user {
        let password = options.password.clone().unwrap_or_default();
        builder = builder.user(user, password);
    }
    if !options.addresses.is_empty() {
        builder = builder.address_translator(Arc::new(Map(options.addresses.clone())));
    }
    encrypted(builder, options)
}

/// `[::1]:9042` or `db1:9042`, as the resolver wants it.
fn contact_point(host: &super::options::Host) -> String {
    match host.port {
        DEFAULT_PORT => format!("{host}:{DEFAULT_PORT}"),
        _ => host.to_string(),
    }
}

#[cfg(feature = "tls")]
fn encrypted(builder: SessionBuilder, options: &CqlOptions) -> Result<SessionBuilder, Error> {
    Ok(match &options.tls {
        Some(files) => builder.tls_context(Some(super::tls::config(files)?)),
        None => builder,
    })
}

#[cfg(not(feature = "tls"))]
fn encrypted(builder: SessionBuilder, options: &CqlOptions) -> Result<SessionBuilder, Error> {
    match &options.tls {
        Some(_) => Err(invalid("this build has no TLS: build it with the feature `tls`")),
        None => Ok(builder),
    }
}

/// Nodes behind forwarded ports. What is not mapped is reached as it calls itself.
struct Map(HashMap<SocketAddr, SocketAddr>);

type Translated<'a> =
    Pin<Box<dyn Future<Output = Result<SocketAddr, TranslationError>> + Send + 'a>>;

impl AddressTranslator for Map {
    // The driver's trait is written with `async_trait`, and this is what that makes of it.
    fn translate_address<'a, 'b, 'f>(&'a self, peer: &'b UntranslatedPeer<'_>) -> Translated<'f>
    where
        'a: 'f,
        'b: 'f,
        Self: 'f,
    {
        let private = peer.untranslated_address();
        Box::pin(ready(Ok(self.public(private))))
    }
}

impl Map {
    /// The driver takes the port of the contact point for that of every node, which it is not behind forwarded ports:
    /// a node whose address is in the map once is known by that alone.
    fn public(&self, private: SocketAddr) -> SocketAddr {
        let of_host = || {
            let mut same = self.0.iter().filter(|(key, _)| key.ip() == private.ip());
            same.next().filter(|_| same.next().is_none())
        };
        let exact = self.0.get_key_value(&private);
        exact.or_else(of_host).map_or(private, |(_, public)| *public)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    const SOON: Duration = Duration::from_secs(2);

    #[test]
    fn a_node_is_mapped_by_its_address_whatever_port_the_driver_takes_for_its_own() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let map = Map(HashMap::from([
            (at("10.0.0.1:9042"), at("127.0.0.1:9141")),
            (at("10.0.0.2:9042"), at("127.0.0.1:9142")),
            (at("10.0.0.2:9043"), at("127.0.0.1:9143")),
        ]));
        assert_eq!(map.public(at("10.0.0.1:9042")), at("127.0.0.1:9141"));
        assert_eq!(map.public(at("10.0.0.1:9141")), at("127.0.0.1:9141"));
        assert_eq!(map.public(at("10.0.0.2:9043")), at("127.0.0.1:9143"));
        assert_eq!(map.public(at("10.0.0.2:1")), at("10.0.0.2:1"), "either could be meant");
        assert_eq!(map.public(at("10.0.0.3:9042")), at("10.0.0.3:9042"));
    }

    /// The error of connecting to `hosts`, with its causes, and that it came in time.
    async fn failure(hosts: &str) -> String {
        let options = CqlOptions::new(hosts, "shop").unwrap().user("app");
        let options = options.password("s3cret").connect_timeout(SOON);
        let began = Instant::now();
        let error = session(&options).await.unwrap_err();
        assert!(began.elapsed() < SOON + Duration::from_millis(500));
        assert!(error.is_retryable() || matches!(error, Error::Refused { .. }));
        let told = format!("{:#} ({:?})", anyhow::Error::from(error.clone()), error.hint());
        assert!(!format!("{told}{error:?}").contains("s3cret"), "{told}");
        assert!(!told.contains('\n'), "{told}");
        told
    }

    /// Somebody at the other end who does this with whoever calls.
    async fn peer<F, D>(behave: F) -> String
    where
        F: Fn(TcpStream) -> D + Send + 'static,
        D: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(behave(stream));
            }
        });
        address
    }

    #[tokio::test]
    async fn nobody_there() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr();
        let told = failure(&free.unwrap().to_string()).await;
        assert!(told.contains("can't connect: connection refused"), "{told}");
    }

    #[tokio::test]
    async fn no_such_host() {
        let told = failure("no-such-host.invalid:9142").await;
        assert!(told.contains("unknown host: no-such-host.invalid"), "{told}");
    }

    #[tokio::test]
    async fn a_node_that_says_nothing() {
        let address = peer(async |stream| {
            tokio::time::sleep(Duration::from_secs(60)).await;
            drop(stream);
        });
        let told = failure(&address.await).await;
        assert!(told.contains("no answer within 2s"), "{told}");
    }

    #[tokio::test]
    async fn a_port_that_hangs_up() {
        let address = peer(async |mut stream: TcpStream| {
            let mut word = [0; 9];
            let _ = stream.read_exact(&mut word).await;
        });
        let told = failure(&address.await).await;
        assert!(told.contains("closed before a word was said"), "{told}");
        assert!(told.contains("tls=true"), "{told}");
    }

    #[tokio::test]
    async fn a_port_that_speaks_something_else() {
        let address = peer(async |mut stream: TcpStream| {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
        let told = failure(&address.await).await;
        assert!(told.contains("no CQL is spoken there"), "{told}");
    }

    #[tokio::test]
    async fn one_bad_contact_point_is_not_the_end() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr();
        let hosts = format!("no-such-host.invalid,{}", free.unwrap());
        let told = failure(&hosts).await;
        assert!(told.contains("connection refused"), "{told}");
    }
}
