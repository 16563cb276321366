//! The commands of the README, run as they stand there.

use crate::live::Live;
use crate::world::World;

const README: &str = include_str!("../../../README.md");

/// A command, and what the README says that it prints.
struct Shown {
    command: &'static str,
    output: String,
}

fn shown() -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for block in README.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => shown.push(Shown { command, output: String::new() }),
                None => shown.last_mut().unwrap().output.extend([line, "\n"]),
            }
        }
    }
    shown
}

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

#[test]
fn every_command_of_the_readme_is_run_somewhere() {
    for Shown { command, .. } in shown() {
        let run = ["cargo run --release -p lamport-seq-cli -- ", "lseq "]
            .iter()
            .any(|known| command.starts_with(known));
        // The gate checks the compose file and runs the test command itself.
        let known = ["docker compose up -d --wait", "cargo xtask test"].contains(&command);
        let exported = command.starts_with("export LSEQ_STORE=cassandra://");
        assert!(run || known || exported, "nothing runs `{command}`");
    }
}

#[test]
fn it_works_without_a_server() {
    let world = World::bare();
    let mut runs = 0;
    for Shown { command, output } in shown() {
        if let Some(arguments) = command.strip_prefix("cargo run --release -p lamport-seq-cli -- ")
        {
            assert_eq!(world.done(&words(arguments)), output, "{command}");
            assert_eq!(world.done(&["alloc", "orders"]), "6\n", "the next call goes on");
            runs += 1;
        }
    }
    assert_eq!(runs, 1);
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_the_readme_works_on_a_cluster() {
    let live = Live::new();
    let mut runs = 0;
    for Shown { command, output } in shown() {
        if let Some(arguments) = command.strip_prefix("lseq ") {
            let printed = live.world.done(&words(arguments));
            // What `init` and `create` say is in their own snapshots.
            if !output.is_empty() {
                assert_eq!(printed, output, "{command}");
            }
            runs += 1;
        }
    }
    assert_eq!(runs, 5);
}

/// All but what only a cluster has.
#[test]
fn the_commands_for_a_cluster_work_on_a_file_too() {
    let world = World::embedded();
    let mut runs = 0;
    for Shown { command, output } in shown() {
        let Some(arguments) = command.strip_prefix("lseq ") else { continue };
        if arguments.starts_with("init ") {
            continue;
        }
        let printed = world.done(&words(arguments));
        if !output.is_empty() {
            assert_eq!(printed, output, "{command}");
        }
        runs += 1;
    }
    assert_eq!(runs, 4);
}
