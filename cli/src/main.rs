//! lseq
fn main() {}
