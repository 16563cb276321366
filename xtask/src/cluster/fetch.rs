//! Cassandra from Maven Central, fetched once.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::{exec, out, paths};

/// The release that the tests run against; `docker-compose.yml` names the same.
pub(crate) const CASSANDRA_VERSION: &str = "5.0.9";
const COPY_DEPENDENCIES: &str =
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
/// About 70 MB, and Maven's own plugins.
const LIMIT: Duration = Duration::from_secs(900);

/// The folder with Cassandra's jars. A folder that is there is complete: it gets its name last.
pub(crate) fn jars() -> anyhow::Result<PathBuf> {
    let jars = paths::cluster_dir().join(format!("lib-{CASSANDRA_VERSION}"));
    if jars.exists() {
        return Ok(jars);
    }
    out::note(format_args!("fetching Cassandra {CASSANDRA_VERSION} with Maven, once"));
    let work = paths::cluster_dir().join("fetch");
    if work.exists() {
        std::fs::remove_dir_all(&work)?;
    }
    std::fs::create_dir_all(&work)?;
    std::fs::write(work.join("pom.xml"), pom())?;
    let mut mvn = Command::new("mvn");
    // Checksums that do not match are an error; nothing is asked.
    mvn.args(["--quiet", "--batch-mode", "--strict-checksums"])
        .args([COPY_DEPENDENCIES, "-DincludeScope=runtime", "-DoutputDirectory=lib"])
        .current_dir(&work);
    exec::capture(&mut mvn, LIMIT).context("cannot fetch Cassandra")?;
    std::fs::rename(work.join("lib"), &jars)
        .with_context(|| format!("cannot make {}", jars.display()))?;
    Ok(jars)
}

fn pom() -> String {
    format!(
        r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lseq</groupId>
  <artifactId>cassandra-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>{CASSANDRA_VERSION}</version>
    </dependency>
  </dependencies>
</project>
"#
    )
}
