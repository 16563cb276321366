//! Just enough CQL to ask a node how it is: protocol version 4, one request at a time, text out.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::shape::{CQL_PORT, SUPERUSER, Shape};
use crate::paths;

const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// Longer than a node's own timeout for a read of a whole table.
const ANSWER_LIMIT: Duration = Duration::from_secs(12);
/// No answer to our few questions comes near.
const ANSWER_BYTES_MAX: u32 = 16 << 20;

/// The protocol's numbers for what is sent and received.
mod op {
    pub(super) const ERROR: u8 = 0x00;
    pub(super) const STARTUP: u8 = 0x01;
    pub(super) const READY: u8 = 0x02;
    pub(super) const AUTHENTICATE: u8 = 0x03;
    pub(super) const QUERY: u8 = 0x07;
    pub(super) const RESULT: u8 = 0x08;
    pub(super) const AUTH_RESPONSE: u8 = 0x0F;
    pub(super) const AUTH_SUCCESS: u8 = 0x10;
}

/// How many replicas must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Consistency {
    One = 1,
    Two = 2,
    Three = 3,
    All = 5,
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection to one node, logged in where the cluster wants that.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
}

impl Connection {
    pub(crate) fn open(shape: &Shape, node: u8) -> anyhow::Result<Self> {
        let address = SocketAddr::new(shape.address(node), CQL_PORT);
        let tcp = TcpStream::connect_timeout(&address, CONNECT_LIMIT)?;
        tcp.set_read_timeout(Some(ANSWER_LIMIT))?;
        tcp.set_write_timeout(Some(ANSWER_LIMIT))?;
        let stream: Box<dyn Stream> =
            if shape.tls { Box::new(encrypted(tcp, address)?) } else { Box::new(tcp) };
        let mut connection = Self { stream };
        connection.start(shape)?;
        Ok(connection)
    }

    fn start(&mut self, shape: &Shape) -> anyhow::Result<()> {
        let mut body = 1_u16.to_be_bytes().to_vec();
        put_string(&mut body, "CQL_VERSION");
        put_string(&mut body, "3.0.0");
        let (answer, _) = self.ask(op::STARTUP, &body)?;
        ensure!(
            shape.auth == (answer == op::AUTHENTICATE),
            "the node {} a password",
            if shape.auth { "does not want" } else { "wants" }
        );
        if answer == op::AUTHENTICATE {
            let token = format!("\0{SUPERUSER}\0{SUPERUSER}");
            let mut body = Vec::new();
            put_bytes(&mut body, token.as_bytes());
            let (answer, _) = self.ask(op::AUTH_RESPONSE, &body)?;
            ensure!(answer == op::AUTH_SUCCESS, "unexpected answer {answer} to a password");
        } else {
            ensure!(answer == op::READY, "unexpected answer {answer} to STARTUP");
        }
        Ok(())
    }

    /// Runs a query and returns its rows, each value as the bytes that came.
    pub(crate) fn rows(&mut self, cql: &str, level: Consistency) -> anyhow::Result<Vec<Row>> {
        let mut body = Vec::new();
        put_bytes(&mut body, cql.as_bytes());
        body.extend((level as u16).to_be_bytes());
        // No description of the columns: we know what we asked for.
        body.push(0x02);
        let (answer, body) = self.ask(op::QUERY, &body)?;
        ensure!(answer == op::RESULT, "unexpected answer {answer} to a query");
        parse_rows(&mut body.as_slice()).with_context(|| format!("the answer to `{cql}`"))
    }

    fn ask(&mut self, opcode: u8, body: &[u8]) -> anyhow::Result<(u8, Vec<u8>)> {
        let mut frame = vec![4, 0, 0, 0, opcode];
        put_bytes(&mut frame, body);
        self.stream.write_all(&frame)?;
        self.stream.flush()?;
        let mut header = [0; 9];
        self.stream.read_exact(&mut header)?;
        let [_, flags, _, _, answer, length @ ..] = header;
        let length = u32::from_be_bytes(length);
        ensure!(length <= ANSWER_BYTES_MAX, "an answer of {length} bytes");
        ensure!(flags == 0, "an answer with flags {flags:#x}");
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body)?;
        if answer == op::ERROR {
            let code = take::<4>(&mut body.as_slice()).map_or(0, u32::from_be_bytes);
            bail!("{} (code {code:#06x})", String::from_utf8_lossy(body.get(6..).unwrap_or(&[])));
        }
        Ok((answer, body))
    }
}

/// A row: its values, in the order of the query.
pub(crate) type Row = Vec<Option<Vec<u8>>>;

fn put_string(out: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).expect("only our own short strings");
    out.extend(length.to_be_bytes());
    out.extend(text.as_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("only our own short queries");
    out.extend(length.to_be_bytes());
    out.extend(bytes);
}

fn take<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = input.split_first_chunk::<N>()?;
    *input = rest;
    Some(*head)
}

fn int(input: &mut &[u8]) -> anyhow::Result<i32> {
    take(input).map(i32::from_be_bytes).context("ends too early")
}

/// A RESULT of kind Rows without metadata and without further pages.
fn parse_rows(input: &mut &[u8]) -> anyhow::Result<Vec<Row>> {
    const ROWS: i32 = 2;
    const HAS_MORE_PAGES: i32 = 0x02;
    const NO_METADATA: i32 = 0x04;
    ensure!(int(input)? == ROWS, "holds no rows");
    let flags = int(input)?;
    ensure!(
        flags & (HAS_MORE_PAGES | NO_METADATA) == NO_METADATA,
        "has unexpected metadata (flags {flags:#x})"
    );
    let columns = int(input)?;
    let rows = int(input)?;
    let mut value = || -> anyhow::Result<Option<Vec<u8>>> {
        let Ok(length) = usize::try_from(int(input)?) else {
            return Ok(None);
        };
        let (bytes, rest) = input.split_at_checked(length).context("ends too early")?;
        *input = rest;
        Ok(Some(bytes.to_vec()))
    };
    (0..rows).map(|_| (0..columns).map(|_| value()).collect()).collect()
}

fn encrypted(tcp: TcpStream, address: SocketAddr) -> anyhow::Result<impl Stream> {
    let pem = |name: &str| paths::tls_dir().join(name);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(pem("ca.pem"))?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_client_auth_cert(
            vec![CertificateDer::from_pem_file(pem("client.pem"))?],
            PrivateKeyDer::from_pem_file(pem("client-key.pem"))?,
        )?;
    let name = ServerName::IpAddress(address.ip().into());
    Ok(StreamOwned::new(ClientConnection::new(Arc::new(config), name)?, tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[&[u8]]) -> Vec<u8> {
        words.concat()
    }

    #[test]
    fn rows_are_read() {
        let head = [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 1];
        let body = answer(&[&head, &[0, 0, 0, 2, b'v', b'2'], &[0xff; 4]]);
        let rows = parse_rows(&mut body.as_slice()).unwrap();
        assert_eq!(rows, [vec![Some(b"v2".to_vec()), None]]);
    }

    #[test]
    fn half_an_answer_is_an_error() {
        let head = [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1];
        let body = answer(&[&head, &[0, 0, 0, 9, b'v']]);
        assert!(parse_rows(&mut body.as_slice()).is_err());
    }
}
