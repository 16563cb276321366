//! Where things are. All that the launcher writes is under `target/cassandra`.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Jars, node folders, certificates and the state of the cluster that is up.
pub(crate) fn cluster_dir() -> PathBuf {
    workspace().join("target").join("cassandra")
}

/// Certificates and keys of a cluster with TLS.
pub(crate) fn tls_dir() -> PathBuf {
    cluster_dir().join("tls")
}

/// Everything of one node.
pub(crate) fn node_dir(node: u8) -> PathBuf {
    cluster_dir().join(format!("n{node}"))
}
