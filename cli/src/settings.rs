//! Which store, with which password and patience: option over environment over file.

use std::env::{self, VarError};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::commands::Context;
use crate::config::Config;
use crate::failure::Failure;
use crate::secret;

/// How long a step may take, unless the user says otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// What it takes to connect.
pub(crate) struct Settings {
    pub(crate) url: String,
    pub(crate) password: Option<String>,
    /// `None`: the user has no wish.
    pub(crate) timeout: Option<Duration>,
    /// Where the embedded file is, if no store was named.
    pub(crate) folder: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn resolve(context: &Context) -> Result<Self, Failure> {
        let file = context.config.clone().or(variable("LSEQ_CONFIG")?.map(PathBuf::from));
        let config = match file {
            Some(file) => Config::read(&file, context.timeout.unwrap_or(TIMEOUT))?,
            None => Config::default(),
        };
        let timeout = context.timeout.or(config.timeout);
        let named = match context.store.clone() {
            Some(url) if url.is_empty() => {
                return Err(Failure::usage("--store is empty").hint(URLS));
            }
            Some(url) => Some(url),
            None => variable("LSEQ_STORE")?.or(config.store.clone()),
        };
        let Some(url) = named else {
            return embedded(context, timeout);
        };
        if secret::credentials(&url).is_some() {
            return Err(Failure::usage(
                "the store's URL holds a password, which process lists and shell histories would show",
            )
            .hint(PASSWORDS));
        }
        // A file has no password, and one that is meant for a cluster does no harm.
        let password = if url.starts_with("sqlite:") {
            None
        } else {
            password(&config, timeout.unwrap_or(TIMEOUT))?
        };
        Ok(Self { url, password, timeout, folder: None })
    }
}

pub(crate) const URLS: &str =
    "a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE";
const PASSWORDS: &str = "set LSEQ_PASSWORD, LSEQ_PASSWORD_FILE or `password` in the file named by --config, \
    and write cassandra://USER@HOST/KEYSPACE (any other @ is written %40)";

/// An environment variable. One that is set but empty is a mistake, not a wish.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(value) if value.is_empty() => {
            let hint = format!("give it a value, or `unset {name}`");
            Err(Failure::usage(format!("{name} is set but empty")).hint(hint))
        }
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(format!("{name} is not UTF-8"))),
    }
}

fn password(config: &Config, patience: Duration) -> Result<Option<String>, Failure> {
    match (variable("LSEQ_PASSWORD")?, variable("LSEQ_PASSWORD_FILE")?) {
        (Some(_), Some(_)) => {
            Err(Failure::usage("both LSEQ_PASSWORD and LSEQ_PASSWORD_FILE are set")
                .hint("unset the one that is not meant"))
        }
        (Some(password), None) => Ok(Some(password)),
        (None, Some(file)) => read_password(Path::new(&file), patience).map(Some),
        (None, None) => match &config.password_file {
            Some(file) => read_password(file, patience).map(Some),
            None => Ok(config.password.clone()),
        },
    }
}

/// The text of a file that a person wrote, or of a pipe that comes to its end within `patience`.
///
/// What never ends is not read to its end, and what nobody writes to, as a FIFO, is not waited for: the thread that
/// is stuck with it goes with the process.
pub(crate) fn read_small(path: &Path, patience: Duration) -> io::Result<String> {
    let file = path.to_owned();
    let (done, text) = mpsc::channel();
    thread::Builder::new().spawn(move || done.send(read_at_most(&file)))?;
    text.recv_timeout(patience).unwrap_or_else(|_| {
        let message = format!(
            "its end has not come for {patience:?}: does nobody write to it? --timeout waits longer"
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

fn read_at_most(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST_FILE {
        let message = format!("it is larger than {} KiB", LARGEST_FILE / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

const LARGEST_FILE: u64 = 64 * 1024;

/// The first line of the file, and there must be no other.
fn read_password(file: &Path, patience: Duration) -> Result<String, Failure> {
    let complaint = |problem: &str| {
        Failure::usage(format!("the password file {} {problem}", file.display()))
            .hint("it holds the password and nothing else")
    };
    let text =
        read_small(file, patience).map_err(|error| complaint("can't be read").source(error))?;
    let password = text.strip_suffix('\n').unwrap_or(&text);
    let password = password.strip_suffix('\r').unwrap_or(password);
    match password {
        "" => Err(complaint("is empty")),
        _ if password.contains('\n') => Err(complaint("has more than one line")),
        _ => Ok(password.to_owned()),
    }
}

const ELSEWHERE: &str = "--store sqlite:FILE puts the file elsewhere";

/// The file in the user's data folder, for whoever names no store. Says so.
fn embedded(context: &Context, timeout: Option<Duration>) -> Result<Settings, Failure> {
    // The XDG base directory specification has relative paths ignored.
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let Some(folder) = data.map(|data| data.join("lseq")) else {
        let message =
            "no store is given, and neither XDG_DATA_HOME nor HOME says where to keep a file";
        return Err(Failure::usage(message).hint(URLS));
    };
    let file = folder.join("lseq.db");
    let Some(path) = file.to_str() else {
        let message = format!("the path {} is not UTF-8", file.display());
        return Err(Failure::usage(message).hint(ELSEWHERE));
    };
    context.printer.note(&format!(
        "no store is given, so this uses the file {path}; for a cluster, set LSEQ_STORE=cassandra://HOST/KEYSPACE"
    ));
    let url = format!("sqlite:{path}");
    Ok(Settings { url, password: None, timeout, folder: Some(folder) })
}

/// For this user alone, as the XDG base directory specification says.
pub(crate) fn create_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        Failure::refused(format!("can't create the folder {}", folder.display()))
            .source(error)
            .hint(ELSEWHERE)
    })
}
