//! Where a file system is mounted, as far as it decides who shares a file (S16). Only Linux and Android tell.

use std::path::Path;

use super::failure::{corrected, refused};
use crate::store::StoreError;

/// Refuses a path on a file system that other machines may write to as well.
///
/// SQLite's write-ahead log keeps its index in memory shared by the processes of one machine, and its locks are
/// only as good as the file system's. Over a network two machines would both believe to be alone.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn refuse_network(path: &Path) -> Result<(), StoreError> {
    let found = rustix::fs::statfs(path).map_err(|error| {
        refused(format!("the file system of {} can't be asked", path.display())).with_source(error)
    })?;
    // The field's type differs between processors; file systems are told apart by 32 bits.
    let [a, b, c, d, ..] = found.f_type.to_le_bytes();
    match name(u32::from_le_bytes([a, b, c, d])) {
        Some(kind) => Err(corrected(
            format!("{} is on {kind}, which other machines may write to as well", path.display()),
            "put the file on a local disk; for several machines, use a cluster: `cassandra://HOST/KEYSPACE`",
        )),
        None => Ok(()),
    }
}

/// Refuses a file that is mounted by itself, as containers do it (`-v ids.db:/ids.db`).
///
/// The log and its index lie beside the file. Beside the mount point they are others than beside the file itself,
/// and the processes on both sides would write the same file by two logs.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn refuse_mounted_file(path: &Path, folder: &Path) -> Result<(), StoreError> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let mount = |path| {
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
        // Kernels before 5.8 do not tell.
        let told = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        told.then_some(found.stx_mnt_id)
    };
    if mount(path) == mount(folder) {
        return Ok(());
    }
    Err(corrected(
        format!("{} is mounted by itself: its log would not lie beside it", path.display()),
        "mount the folder that it is in",
    ))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn refuse_network(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn refuse_mounted_file(_: &Path, _: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// What is shared between machines, by `f_type` of statfs(2): network and cluster file systems, and what a
/// virtual machine's host shares with it. FUSE may be local, but nothing tells.
fn name(f_type: u32) -> Option<&'static str> {
    Some(match f_type {
        0x0000_6969 => "NFS",
        0x0000_517b | 0xfe53_4d42 | 0xff53_4d42 => "SMB/CIFS",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9p",
        0x0bd0_0bd0 => "Lustre",
        0x00c3_6400 => "CephFS",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x0000_564c => "NCP",
        0x0116_1970 => "GFS2",
        0x7461_636f => "OCFS2",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0xaad7_aaea => "PanFS",
        0x2003_0528 => "OrangeFS",
        0x786f_4256 => "a VirtualBox shared folder",
        0xbacb_acbc => "a VMware shared folder",
        0x7c7c_6673 => "a Parallels shared folder",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s16_network_file_systems_are_named_and_local_ones_are_not() {
        for (magic, expected) in
            [(0x6969, "NFS"), (0xff53_4d42, "SMB/CIFS"), (0x6573_5546, "FUSE"), (0x0102_1997, "9p")]
        {
            assert_eq!(name(magic), Some(expected));
        }
        // ext4, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs, bcachefs
        for local in [
            0xef53,
            0x5846_5342,
            0x9123_683e,
            0x0102_1994,
            0x794c_7630,
            0x2fc1_2fc1,
            0xf2f5_2010,
            0xca45_1a4e,
        ] {
            assert_eq!(name(local), None, "{local:x}");
        }
    }

    #[test]
    fn s16_a_local_folder_is_accepted() {
        refuse_network(&std::env::temp_dir()).unwrap();
    }
}
