//! The files of one node that runs as a plain Java process.

use std::path::Path;

use anyhow::Context as _;

use super::shape::{CQL_PORT, STORAGE_PORT, Shape};
use super::{clock, settings};
use crate::paths;

/// Packages that Cassandra looks into although the Java platform does not export them, as its own
/// start script lists them for Java 17.
const EXPORTS: [&str; 9] = [
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
];

/// The same for reflection.
const OPENS: [&str; 19] = [
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.nio.file.spi",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
];

const LOGBACK: &str = r#"<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %d{HH:mm:ss.SSS} %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"#;

/// Makes the folder of a node anew: its configuration, and no data.
pub(crate) fn write(shape: &Shape, node: u8, jars: &Path) -> anyhow::Result<()> {
    let dir = paths::node_dir(node);
    if dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    std::fs::create_dir_all(dir.join("tmp"))?;
    let files = [
        ("cassandra.yaml", cassandra_yaml(shape, node, &dir)),
        ("cassandra-rackdc.properties", "dc=dc1\nrack=rack1\n".to_owned()),
        ("logback.xml", LOGBACK.to_owned()),
        ("jvm.args", jvm_args(shape, node, &dir, jars)),
    ];
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if shape.clocks {
        clock::write(node)?;
    }
    Ok(())
}

/// Only where things are; how the node behaves is in [`settings`].
fn cassandra_yaml(shape: &Shape, node: u8, dir: &Path) -> String {
    let address = shape.address(node);
    // All nodes are seeds: each can start alone, in any order, and finds the others.
    let seeds = shape.numbers().map(|n| format!("{}:{STORAGE_PORT}", shape.address(n)));
    let seeds = seeds.collect::<Vec<_>>().join(",");
    let data = dir.join("data");
    let data = data.display();
    format!(
        r#"cluster_name: lseq-test
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: GossipingPropertyFileSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "{seeds}"
listen_address: {address}
rpc_address: {address}
storage_port: {STORAGE_PORT}
native_transport_port: {CQL_PORT}
data_file_directories: ["{data}/data"]
commitlog_directory: "{data}/commitlog"
saved_caches_directory: "{data}/saved_caches"
hints_directory: "{data}/hints"
cdc_raw_directory: "{data}/cdc_raw"
"#
    )
}

/// One quoted option a line, as `java @file` reads them.
fn jvm_args(shape: &Shape, node: u8, dir: &Path, jars: &Path) -> String {
    let shown = dir.display();
    let url = format!("file://{shown}").replace(' ', "%20");
    let mut options: Vec<String> = [
        "-Xms512m",
        "-Xmx512m",
        "-Xss512k",
        "-XX:+UseSerialGC",
        // A node without memory is a dead node, not a slow one.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        "-Djdk.attach.allowAttachSelf=true",
        "-Djava.net.preferIPv4Stack=true",
        "-Dcassandra-foreground=yes",
    ]
    .map(str::to_owned)
    .into();
    options.extend(EXPORTS.map(|package| format!("--add-exports={package}=ALL-UNNAMED")));
    options.extend(OPENS.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    options.extend([
        format!("-Dcassandra.config={url}/cassandra.yaml"),
        format!("-Dcassandra-rackdc.properties={url}/cassandra-rackdc.properties"),
        format!("-Dlogback.configurationFile={shown}/logback.xml"),
        format!("-Dcassandra.storagedir={shown}/data"),
        // Native libraries are unpacked here and not where nobody clears them away.
        format!("-Djava.io.tmpdir={shown}/tmp"),
        format!("-Djna.tmpdir={shown}/tmp"),
    ]);
    let tls_dir = paths::tls_dir();
    options.extend(settings::java_options(shape, node, &tls_dir.display().to_string()));
    options.push("-cp".to_owned());
    options.push(format!("{}/*", jars.display()));
    let quote =
        |option: String| format!("\"{}\"\n", option.replace('\\', "\\\\").replace('"', "\\\""));
    options.into_iter().map(quote).collect()
}
