//! What a cluster looks like, and the file that remembers which one is up.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, bail};

use super::backend::Kind;
use crate::paths;

/// The superuser of a cluster with `--auth`, which Cassandra makes itself, and its password.
pub(crate) const SUPERUSER: &str = "cassandra";
/// Where every node answers CQL.
pub(crate) const CQL_PORT: u16 = 9042;
/// Where nodes talk to each other.
pub(crate) const STORAGE_PORT: u16 = 7000;

/// Everything about a cluster that `cluster up` can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing of its own that one may ask for"
)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) nodes: u8,
    pub(crate) auth: bool,
    pub(crate) tls: bool,
    pub(crate) client_certs: bool,
    /// The nodes' clocks can be set, each for itself, while they run.
    pub(crate) clocks: bool,
    pub(crate) network: Network,
}

/// The first three bytes of the nodes' addresses. Clusters of several checkouts of the repository
/// can be up at the same time when each has a loopback network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network([u8; 3]);

impl Network {
    /// Where tests and documents expect a cluster.
    pub(crate) const USUAL: Self = Self([127, 0, 0]);
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.0;
        write!(f, "{a}.{b}.{c}")
    }
}

impl FromStr for Network {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match format!("{text}.0").parse::<Ipv4Addr>().map(|address| address.octets()) {
            Ok([127, b, c, 0]) => Ok(Self([127, b, c])),
            _ => bail!("three bytes of a loopback address are wanted, as in 127.0.1"),
        }
    }
}

impl Shape {
    /// Nodes that anyone may talk to.
    pub(crate) fn plain(kind: Kind, network: Network, nodes: u8) -> Self {
        Self { kind, nodes, auth: false, tls: false, client_certs: false, clocks: false, network }
    }

    /// One node that wants a password and TLS.
    pub(crate) fn secured(kind: Kind, network: Network) -> Self {
        Self { auth: true, tls: true, ..Self::plain(kind, network, 1) }
    }

    /// The numbers of the nodes.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        1..=self.nodes
    }

    /// The address of a node, the same on every backend.
    pub(crate) fn address(&self, node: u8) -> IpAddr {
        let [a, b, c] = self.network.0;
        IpAddr::V4(Ipv4Addr::new(a, b, c, node))
    }

    /// All addresses, as `LSEQ_TEST_CASSANDRA` wants them.
    pub(crate) fn contact_points(&self) -> String {
        let addresses = self.numbers().map(|node| self.address(node).to_string());
        addresses.collect::<Vec<_>>().join(",")
    }

    /// Remembers this shape. Written before the first node starts, so that whatever happens
    /// afterwards, the next command knows what to clear away.
    pub(crate) fn save(&self) -> anyhow::Result<()> {
        let path = file();
        let draft = path.with_extension("draft");
        let text = self.to_text();
        std::fs::create_dir_all(paths::cluster_dir())
            .and_then(|()| std::fs::write(&draft, text))
            .and_then(|()| std::fs::rename(&draft, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// The shape of the cluster that was started last and not stopped since.
    pub(crate) fn load() -> anyhow::Result<Option<Self>> {
        let path = file();
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let shape = Self::from_text(&text);
                shape.map(Some).with_context(|| format!("cannot read {}", path.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Forgets the cluster: it has been stopped.
    pub(crate) fn forget() -> anyhow::Result<()> {
        match std::fs::remove_file(file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn to_text(&self) -> String {
        let Self { kind, nodes, auth, tls, client_certs, clocks, network } = self;
        format!(
            "kind={}\nnodes={nodes}\nauth={auth}\ntls={tls}\nclient_certs={client_certs}\n\
             clocks={clocks}\nnetwork={network}\n",
            kind.as_str()
        )
    }

    fn from_text(text: &str) -> anyhow::Result<Self> {
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let found = pairs.find(|(name, _)| *name == key);
            found.map(|(_, value)| value).with_context(|| format!("`{key}` is missing"))
        };
        let kind = match value("kind")? {
            "docker" => Kind::Docker,
            "maven" => Kind::Maven,
            other => bail!("`{other}` is no kind of cluster"),
        };
        Ok(Self {
            kind,
            nodes: value("nodes")?.parse()?,
            auth: value("auth")?.parse()?,
            tls: value("tls")?.parse()?,
            client_certs: value("client_certs")?.parse()?,
            clocks: value("clocks")?.parse()?,
            network: value("network")?.parse()?,
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.nodes == 1 { "" } else { "s" };
        write!(f, "{} node{s}", self.nodes)?;
        for (is_on, word) in [
            (self.auth, "auth"),
            (self.tls, "TLS"),
            (self.client_certs, "client certificates"),
            (self.clocks, "clocks that can be set"),
        ] {
            if is_on {
                write!(f, ", {word}")?;
            }
        }
        write!(f, ", {}", self.kind.as_str())
    }
}

fn file() -> PathBuf {
    paths::cluster_dir().join("state")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_survives_its_file() {
        for kind in [Kind::Docker, Kind::Maven] {
            let network = "127.9.8".parse().unwrap();
            let shape = Shape { nodes: 2, clocks: true, ..Shape::secured(kind, network) };
            assert_eq!(Shape::from_text(&shape.to_text()).unwrap(), shape);
        }
    }

    #[test]
    fn a_torn_file_is_an_error_not_a_guess() {
        let whole = Shape::plain(Kind::Maven, Network::USUAL, 3).to_text();
        assert!(Shape::from_text(&whole).is_ok());
        let cut = whole.len() / 2;
        assert!(Shape::from_text(&whole[..cut]).is_err());
    }

    #[test]
    fn a_network_is_on_loopback() {
        assert_eq!("127.0.0".parse::<Network>().unwrap(), Network::USUAL);
        for bad in ["", "127", "127.0", "127.0.0.1", "10.0.0", "127.0.256", "127.0.x"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
