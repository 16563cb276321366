//! Store URLs. Nothing that might be a password is ever repeated in an error.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use super::options::{CqlOptions, DEFAULT_PORT, Host, invalid};
use crate::error::Error;

const FORM: &str = "cassandra://[user@]host[:port][,host...]/keyspace[?name=value&...]";
const SCHEMES: [&str; 2] = ["cassandra", "scylla"];
const PARAMETERS: [&str; 8] =
    ["dc", "tls", "ca", "cert", "key", "prefix", "request_timeout", "map"];

pub(super) fn parse(url: &str) -> Result<CqlOptions, Error> {
    let (scheme, rest) = scheme(url)?;
    let (user, rest) = user(rest)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let Some((hosts, keyspace)) = rest.split_once('/').filter(|(_, path)| !path.is_empty()) else {
        return Err(invalid(format!("the store URL names no keyspace: write {FORM}")));
    };
    let mut options = CqlOptions::new(hosts, &decode(keyspace, "the keyspace")?)?;
    options.scheme = scheme;
    options.user = user;
    parameters(options, query)
}

fn scheme(url: &str) -> Result<(&'static str, &str), Error> {
    let split = url.split_once("://");
    let found = split.and_then(|(scheme, rest)| {
        let known = SCHEMES.iter().find(|known| **known == scheme)?;
        Some((*known, rest))
    });
    found.ok_or_else(|| {
        invalid(format!(
            "the store URL does not begin with cassandra:// or scylla://: write {FORM}"
        ))
    })
}

/// The user, and what comes after it. All that precedes the last `@` is the user's: a password may hold any sign.
fn user(rest: &str) -> Result<(Option<String>, &str), Error> {
    let Some((user, rest)) = rest.rsplit_once('@') else {
        return Ok((None, rest));
    };
    if user.contains(':') {
        return Err(invalid(
            "the store URL has a password in it: take it out, and set LSEQ_PASSWORD or LSEQ_PASSWORD_FILE \
             (in a program, `CqlOptions::password`); an `@` in a parameter is written %40",
        ));
    }
    if user.is_empty() || user.contains(['/', '?', '#']) {
        return Err(invalid(
            "the user in the store URL is empty, or has a `/`, `?` or `#` that is not percent-encoded",
        ));
    }
    Ok((Some(decode(user, "the user")?), rest))
}

/// Reads `host[:port][,host...]`.
pub(super) fn hosts(text: &str) -> Result<Vec<Host>, Error> {
    text.split(',').enumerate().map(|(index, text)| host(index + 1, text)).collect()
}

/// What can't be read is told by its place: where the `@` was forgotten, it is a password.
fn host(place: usize, text: &str) -> Result<Host, Error> {
    if text.contains('@') {
        return Err(invalid(format!(
            "host {place} has an `@` in it: write host[:port], and give the user and the password apart"
        )));
    }
    let (name, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (name, port) = bracketed.split_once(']').unwrap_or(("", ""));
            if name.parse::<Ipv6Addr>().is_err() {
                return Err(invalid(format!(
                    "host {place} of the store URL is not an IPv6 address in brackets"
                )));
            }
            (name, port)
        }
        None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => DEFAULT_PORT,
        Some(number) => number
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| {
                invalid(format!(
                    "host {place} of the store URL: the port is not a number from 1 to 65535 (an IPv6 address is written in \
                     brackets, a user before an `@`)"
                ))
            })?,
        None => {
            let message = format!("host {place} of the store URL has text behind its bracket");
            return Err(invalid(message));
        }
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if name.is_empty() || !name.chars().all(fits) {
        return Err(invalid(format!(
            "host {place} of the store URL is neither a name nor an address: write host[:port][,host...]"
        )));
    }
    let name = name.to_owned();
    Ok(Host { name, port })
}

fn parameters(options: CqlOptions, query: &str) -> Result<CqlOptions, Error> {
    let mut given: Vec<(&str, String)> = Vec::new();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    for (index, pair) in pairs.enumerate() {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(known) = PARAMETERS.into_iter().find(|known| *known == name) else {
            return Err(unknown(index + 1, name));
        };
        if given.iter().any(|(earlier, _)| *earlier == known) {
            return Err(invalid(format!(
                "the store URL has the parameter `{known}` twice: keep one of them"
            )));
        }
        let value = decode(value, known)?;
        if value.is_empty() {
            return Err(invalid(format!(
                "the parameter `{known}` of the store URL is empty: write {known}=VALUE or leave it out"
            )));
        }
        given.push((known, value));
    }
    apply(options, given)
}

fn unknown(place: usize, name: &str) -> Error {
    let known = PARAMETERS.join(", ");
    if ["password", "pass", "passwd", "pwd"].contains(&name) {
        return invalid(
            "a password has no place in a store URL: set LSEQ_PASSWORD or LSEQ_PASSWORD_FILE \
             (in a program, `CqlOptions::password`)",
        );
    }
    invalid(format!("parameter {place} of the store URL is not known: the known ones are {known}"))
}

fn apply(mut options: CqlOptions, given: Vec<(&str, String)>) -> Result<CqlOptions, Error> {
    let (mut tls, mut ca, mut cert, mut key) = (None, None, None, None);
    for (name, value) in given {
        match name {
            "dc" => options.datacenter = Some(value),
            "tls" => tls = Some(boolean(&value)?),
            "ca" => ca = Some(value),
            "cert" => cert = Some(value),
            "key" => key = Some(value),
            "prefix" => options = options.prefix(&value)?,
            "request_timeout" => options.request_timeout = duration(&value)?,
            _ => options = map(options, &value)?,
        }
    }
    let options = match (tls.unwrap_or(false), ca) {
        (true, Some(ca)) => options.tls(ca),
        (true, None) => {
            return Err(invalid(
                "`tls=true` needs `ca=FILE`, the certificate authority of the cluster (PEM)",
            ));
        }
        (false, Some(_)) => return Err(invalid("`ca` without TLS: add `tls=true`")),
        (false, None) => options,
    };
    let options = match (cert, key) {
        (Some(cert), Some(key)) => options.client_certificate(cert, key),
        (None, None) => options,
        _ => {
            return Err(invalid(
                "`cert` and `key` belong together: a client certificate and its key (PEM)",
            ));
        }
    };
    options.check()?;
    Ok(options)
}

fn boolean(value: &str) -> Result<bool, Error> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid("`tls` in the store URL: write tls=true or tls=false")),
    }
}

fn duration(value: &str) -> Result<Duration, Error> {
    let parsed = match value.strip_suffix("ms") {
        Some(number) => number.parse().ok().map(Duration::from_millis),
        None => {
            value.strip_suffix('s').and_then(|number| number.parse().ok()).map(Duration::from_secs)
        }
    };
    parsed.ok_or_else(|| {
        invalid("`request_timeout` in the store URL: write a number and a unit, as 3s or 500ms")
    })
}

fn map(mut options: CqlOptions, value: &str) -> Result<CqlOptions, Error> {
    for pair in value.split(',') {
        let ends = pair.split_once('=').and_then(|(private, public)| {
            let parse = |text: &str| text.parse::<SocketAddr>().ok();
            Some((parse(private)?, parse(public)?))
        });
        let Some((private, public)) = ends else {
            return Err(invalid(
                "`map` in the store URL: write PRIVATE:PORT=PUBLIC:PORT[,...] with addresses, not names",
            ));
        };
        options = options.map_address(private, public);
    }
    Ok(options)
}

/// Undoes percent-encoding. `+` stands for itself: this is no form.
fn decode(text: &str, what: &str) -> Result<String, Error> {
    let broken = || {
        invalid(format!(
            "{what} in the store URL is not percent-encoded UTF-8: a `%` is written %25"
        ))
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let [high, low, tail @ ..] = tail else {
            return Err(broken());
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let value = digit(*high).zip(digit(*low)).ok_or_else(broken)?;
        bytes.push(u8::try_from(value.0 * 16 + value.1).map_err(|_| broken())?);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        match parse(url) {
            Ok(options) => panic!("{url} was taken for {options:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_full_url_says_everything() {
        let url = "scylla://o%27brien@db1,db2:9142,[fd00::1]:9043/shop?dc=eu%20west&tls=true&ca=/etc/ca.pem\
                   &cert=/c.pem&key=/k.pem&prefix=x_&request_timeout=1500ms\
                   &map=10.0.0.1:9042=127.0.0.1:9142,[fd00::1]:9042=[::1]:9242";
        let options = parse(url).unwrap();
        assert_eq!(options.location(), "scylla://db1,db2:9142,[fd00::1]:9043/shop?prefix=x_");
        assert_eq!(options.user.as_deref(), Some("o'brien"));
        assert_eq!(options.datacenter.as_deref(), Some("eu west"));
        assert_eq!(options.request_timeout, Duration::from_millis(1500));
        let tls = options.tls.unwrap();
        assert_eq!(tls.ca.to_str(), Some("/etc/ca.pem"));
        assert_eq!(tls.identity, Some(("/c.pem".into(), "/k.pem".into())), "both files");
        assert_eq!(options.addresses.len(), 2);
        let public = options.addresses[&"10.0.0.1:9042".parse().unwrap()];
        assert_eq!(public.to_string(), "127.0.0.1:9142");
    }

    #[test]
    fn a_short_url_takes_defaults() {
        let options = parse("cassandra://127.0.0.1/shop").unwrap();
        assert_eq!(options.location(), "cassandra://127.0.0.1/shop");
        assert_eq!(options.hosts[0].port, 9042);
        assert_eq!(options.request_timeout, Duration::from_secs(3));
        assert!(options.user.is_none() && options.tls.is_none());
    }

    #[test]
    fn a_password_is_refused_and_never_repeated() {
        for url in [
            "cassandra://app:s3cret@db1/shop",
            "cassandra://app:s3cret/x@db1/shop",
            "cassandra://app:s3cret?x=1@db1/shop",
            "cassandra://app:s3cret@s3cret@db1/shop",
            "cassandra://app:9042/s3cret?s3cret=1@db1/shop",
            "cassandra://:s3cret@db1/shop",
            "cassandra://db1/shop?password=s3cret",
            "cassandra://s3cret/app@db1/shop",
            "cassandra://s3cret?x@db1/shop",
        ] {
            let error = refusal(url);
            assert!(!error.contains("s3cret"), "{url}: {error}");
        }
        assert!(refusal("cassandra://app:s3cret@db1/shop").contains("LSEQ_PASSWORD_FILE"));
    }

    #[test]
    fn hosts_with_a_password_are_refused_without_repeating_it() {
        let error = CqlOptions::new("app:s3cret@db1", "shop").unwrap_err().to_string();
        assert!(error.contains("apart") && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn debug_output_hides_the_password() {
        let options = parse("cassandra://app@db1/shop").unwrap().password("s3cret");
        let shown = format!("{options:?} {options:#?}");
        assert!(!shown.contains("s3cret") && shown.contains("***"), "{shown}");
    }

    #[test]
    fn every_mistake_is_one_clear_line() {
        for (url, hint) in [
            ("", "cassandra://[user@]host"),
            ("db1/shop", "does not begin with cassandra://"),
            ("postgres://db1/shop", "does not begin with cassandra://"),
            ("cassandra://db1", "names no keyspace"),
            ("cassandra://db1/", "names no keyspace"),
            ("cassandra:///shop", "neither a name nor an address"),
            ("cassandra://db1,,db2/shop", "neither a name nor an address"),
            ("cassandra://db 1/shop", "neither a name nor an address"),
            ("cassandra://db1:/shop", "1 to 65535"),
            ("cassandra://db1:0/shop", "1 to 65535"),
            ("cassandra://db1:65536/shop", "1 to 65535"),
            ("cassandra://::1/shop", "written in brackets"),
            ("cassandra://[::1/shop", "not an IPv6 address in brackets"),
            ("cassandra://[::1]9042/shop", "text behind its bracket"),
            ("cassandra://@db1/shop", "the user in the store URL is empty"),
            ("cassandra://db1/my-shop", "a letter first"),
            ("cassandra://db1/shop/x", "a letter first"),
            ("cassandra://db1/1shop", "a letter first"),
            ("cassandra://db1/shop#x", "a letter first"),
            ("cassandra://db1/sh%6", "percent-encoded"),
            ("cassandra://db1/sh%ff", "percent-encoded"),
            ("cassandra://db1/shop?datacenter=x", "the known ones are dc, tls, ca"),
            ("cassandra://db1/shop?dc=a&dc=b", "twice"),
            ("cassandra://db1/shop?dc=", "is empty"),
            ("cassandra://db1/shop?dc", "is empty"),
            ("cassandra://db1/shop?tls=yes", "tls=true or tls=false"),
            ("cassandra://db1/shop?tls=true", "needs `ca=FILE`"),
            ("cassandra://db1/shop?ca=x", "add `tls=true`"),
            ("cassandra://db1/shop?tls=true&ca=x&cert=y", "belong together"),
            ("cassandra://db1/shop?cert=x&key=y", "needs TLS"),
            ("cassandra://db1/shop?prefix=1", "a letter first"),
            ("cassandra://db1/shop?request_timeout=3", "3s or 500ms"),
            ("cassandra://db1/shop?request_timeout=1ms", "between 100 ms and 5 min"),
            ("cassandra://db1/shop?map=a:1=b:2", "PRIVATE:PORT=PUBLIC:PORT"),
        ] {
            let error = refusal(url);
            assert!(error.contains(hint), "{url}: {error}");
            assert!(!error.contains('\n'), "{url}: {error}");
        }
    }
}
