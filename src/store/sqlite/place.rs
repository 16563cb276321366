//! Where the file is, and whether the path still leads to it (S16).
//!
//! Only `stat` is used here, never `open`: POSIX record locks belong to a process and a file, and closing *any*
//! descriptor of that file drops them all, SQLite's own among them. SQLite takes care that its own descriptors
//! are not closed too early; a descriptor of ours could not. None is needed either: the connection's descriptor
//! keeps the inode alive, so its number can't come back on another file while the connection is open.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::failure::corrected;
use super::mounts;
use crate::definition::shell_word;
use crate::store::{StoreError, StoreErrorKind};

/// A path at which a database may be.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// As it was given, made absolute: it may lead through symbolic links.
    given: PathBuf,
    /// Free of symbolic links.
    pub(super) path: PathBuf,
    /// Whether something is there.
    pub(super) exists: bool,
}

impl Place {
    /// Resolves a path once and for all, and refuses what can't be shared safely before anything is touched.
    pub(super) fn resolve(path: &Path) -> Result<Self, StoreError> {
        let given = std::path::absolute(path).map_err(|error| {
            corrected(
                "the path of the store's file is empty or can't be used",
                "name a file, as in `sqlite:/var/lib/shop/ids.db`",
            )
            .with_source(error)
        })?;
        let (path, exists) = match fs::canonicalize(&given) {
            Ok(path) => (path, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (in_its_folder(&given)?, false)
            }
            Err(error) => return Err(unreachable(&given, error)),
        };
        let place = Self { given, path, exists };
        if exists {
            place.check_kind()?;
        }
        mounts::refuse_network(if exists { &place.path } else { place.folder() })?;
        Ok(place)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    fn check_kind(&self) -> Result<(), StoreError> {
        let found = fs::metadata(&self.path).map_err(|error| unreachable(&self.path, error))?;
        let path = self.path.display();
        if found.is_dir() {
            let hint =
                format!("name a file in it, as in `sqlite:{}`", self.path.join("ids.db").display());
            return Err(corrected(format!("{path} is a folder"), hint));
        }
        if !found.is_file() {
            return Err(corrected(
                format!("{path} is not a file"),
                "name a file, or one that is still to be made",
            ));
        }
        // SQLite takes a file of one byte for an empty one, and would write over it.
        if found.len() == 1 {
            return Err(corrected(
                format!("{path} is not a SQLite database"),
                "is the path right?",
            ));
        }
        if found.nlink() != 1 {
            return Err(corrected(several_names(&self.path, &found), ONE_NAME));
        }
        mounts::refuse_mounted_file(&self.path, self.folder())?;
        Ok(())
    }
}

/// The path of a file that is not there yet, in its folder's real place.
fn in_its_folder(given: &Path) -> Result<PathBuf, StoreError> {
    let path = given.display();
    if fs::symlink_metadata(given).is_ok() {
        return Err(corrected(
            format!("{path} is a symbolic link that leads nowhere"),
            "mend or remove the link",
        ));
    }
    let (Some(folder), Some(file)) = (given.parent(), given.file_name()) else {
        return Err(corrected(format!("{path} is not a file's path"), "name a file"));
    };
    match fs::canonicalize(folder) {
        Ok(folder) => Ok(folder.join(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(corrected(
            format!("the folder {} does not exist", folder.display()),
            format!("make it with `mkdir -p {}`", shell_word(&folder.display().to_string())),
        )),
        Err(error) => Err(unreachable(folder, error)),
    }
}

fn unreachable(path: &Path, error: io::Error) -> StoreError {
    let hint = "is each part of the path a folder that this user may enter?";
    corrected(format!("{} can't be reached", path.display()), hint).with_source(error)
}

const ONE_NAME: &str = "each name would have a write-ahead log of its own: remove the other names, and make backups by copying";

fn several_names(path: &Path, found: &Metadata) -> String {
    format!("{} has {} names (hard links)", path.display(), found.nlink())
}

/// The files that an open connection works on, as they were when it opened them.
#[derive(Debug)]
pub(super) struct Files {
    place: Place,
    main: FileId,
    /// The write-ahead log and its index. SQLite removes them only when the last connection closes; whoever
    /// removes them earlier splits the clients in two, as if the database itself were replaced.
    beside: [(PathBuf, FileId); 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

impl Files {
    /// Notes which files are there. The caller's connection has them open in WAL mode.
    pub(super) fn note(place: &Place) -> Result<Self, StoreError> {
        let beside = |ending| {
            let mut path = place.path.clone().into_os_string();
            path.push(ending);
            let path = PathBuf::from(path);
            let id = look(&path)?;
            Ok::<_, StoreError>((path, FileId::of(&id)))
        };
        let main = FileId::of(&look(&place.path)?);
        let beside = [beside("-wal")?, beside("-shm")?];
        Ok(Self { place: place.clone(), main, beside })
    }

    /// S16: the path must lead to the very files that the connection has open, and by no other name as well.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let found = look(&self.place.path)?;
        same(&self.place.path, self.main, &found)?;
        if found.nlink() != 1 {
            return Err(gone(several_names(&self.place.path, &found)).with_hint(ONE_NAME));
        }
        for (path, id) in &self.beside {
            same(path, *id, &look(path)?)?;
        }
        if self.place.given != self.place.path {
            let path = &self.place.given;
            let found = fs::metadata(path).map_err(|error| vanished(path, error))?;
            same(path, self.main, &found)?;
        }
        Ok(())
    }
}

fn look(path: &Path) -> Result<Metadata, StoreError> {
    fs::symlink_metadata(path).map_err(|error| vanished(path, error))
}

fn same(path: &Path, id: FileId, found: &Metadata) -> Result<(), StoreError> {
    if FileId::of(found) == id {
        return Ok(());
    }
    Err(gone(format!("{} is another file now than the one that was opened", path.display()))
        .with_hint(REPLACED))
}

fn vanished(path: &Path, error: io::Error) -> StoreError {
    gone(format!("{} is not there any more", path.display())).with_hint(REPLACED).with_source(error)
}

const REPLACED: &str =
    "never move, remove or replace the file or the -wal and -shm beside it while clients run";

fn gone(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Gone, message)
}
