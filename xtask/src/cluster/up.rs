//! `cluster up`: clear away what an earlier run left, start, wait until ready.

use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::backend::{self, Backend, Kind};
use super::lock::Lock;
use super::ready::{self, Hopeless};
use super::shape::{CQL_PORT, STORAGE_PORT, SUPERUSER, Shape};
use crate::interrupt::CleaningUp;
use crate::{out, paths};

/// Three nodes take 20 to 30 s on two idle cores.
pub(crate) const READY_LIMIT: Duration = Duration::from_secs(240);
/// A cluster that was ready still is, or it is not healthy.
const HEALTH_LIMIT: Duration = Duration::from_secs(10);

/// Makes sure that a healthy cluster of this shape is up.
pub(crate) fn up(shape: &Shape) -> anyhow::Result<()> {
    let started = Instant::now();
    let _lock = Lock::take()?;
    let nodes: Vec<u8> = shape.numbers().collect();
    let backend = backend::of(shape.kind)?;
    if is_up(backend.as_ref(), shape, &nodes) {
        out::note(format_args!("already up and healthy: {shape}"));
        print_how_to_connect(shape);
        return Ok(());
    }
    clear_leftovers()?;
    check_ports(shape)?;
    out::note(format_args!("starting {shape}"));
    shape.save()?;
    let ready = backend
        .start_fresh(shape)
        .and_then(|()| ready::wait(backend.as_ref(), shape, &nodes, READY_LIMIT));
    if let Err(error) = ready {
        explain(backend.as_ref(), &error);
        // Half a cluster is of no use; its logs stay.
        stop(backend.as_ref())?;
        return Err(error.context("the cluster did not start and has been stopped"));
    }
    out::note(format_args!("ready after {:.0} s: {shape}", started.elapsed().as_secs_f64()));
    print_how_to_connect(shape);
    Ok(())
}

fn is_up(backend: &dyn Backend, shape: &Shape, nodes: &[u8]) -> bool {
    Shape::load().is_ok_and(|running| running.as_ref() == Some(shape))
        && ready::wait(backend, shape, nodes, HEALTH_LIMIT).is_ok()
}

/// Stops whatever an earlier run recorded, of any shape, however that run ended.
pub(crate) fn clear_leftovers() -> anyhow::Result<usize> {
    let _cleaning = CleaningUp::start();
    let mut stopped = 0;
    match Shape::load() {
        Ok(Some(Shape { kind: Kind::Docker, .. })) => match backend::of(Kind::Docker) {
            Ok(docker) => stopped += stop(docker.as_ref())?,
            // Containers end with their engine.
            Err(error) => out::note(format_args!("containers are not looked for: {error:#}")),
        },
        Ok(_) => {}
        Err(error) => out::note(format_args!("ignored: {error:#}")),
    }
    // Processes are recorded one by one, also where the state of the cluster was lost.
    stopped += stop(&*backend::of(Kind::Maven)?)?;
    Ok(stopped)
}

fn stop(backend: &dyn Backend) -> anyhow::Result<usize> {
    let _cleaning = CleaningUp::start();
    let stopped = backend.stop_all()?;
    if stopped > 0 {
        out::note(format_args!("stopped {stopped} running node(s)"));
    }
    Shape::forget()?;
    Ok(stopped)
}

/// Shows the end of the log of the node that is to blame.
pub(crate) fn explain(backend: &dyn Backend, error: &anyhow::Error) {
    if let Some(Hopeless { node, .. }) = error.downcast_ref() {
        out::note(format_args!("--- end of the log of node {node}"));
        out::note(format_args!("{}", backend.log_tail(*node)));
    }
}

/// A port that a stranger holds is found out before anything starts.
fn check_ports(shape: &Shape) -> anyhow::Result<()> {
    let ports: &[u16] = match shape.kind {
        Kind::Docker => &[CQL_PORT],
        Kind::Maven => &[CQL_PORT, STORAGE_PORT],
    };
    for node in shape.numbers() {
        for port in ports {
            let address = SocketAddr::new(shape.address(node), *port);
            match TcpListener::bind(address) {
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => bail!(
                    "{address} is held by a process that `cargo xtask cluster` has not started: \
                     stop it (`ss -ltnp 'sport = :{port}'` shows it)"
                ),
                Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => bail!(
                    "this machine has no address {}: on macOS, `sudo ifconfig lo0 alias {} up`",
                    address.ip(),
                    address.ip()
                ),
                Err(error) => return Err(error).with_context(|| format!("cannot use {address}")),
            }
        }
    }
    Ok(())
}

fn print_how_to_connect(shape: &Shape) {
    out::result(format_args!("contact points: {}", shape.contact_points()));
    if shape.auth {
        out::result(format_args!("user {SUPERUSER}, password {SUPERUSER}"));
    }
    if shape.tls {
        out::result(format_args!("certificates in {}", paths::tls_dir().display()));
    }
}
