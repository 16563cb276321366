//! Finds the lines of ids that were kept in runs, by reading their files again.

use super::findings::{Findings, Witness};
use super::ledger::{Ledger, index};
use crate::history::event::{Event, Give};
use crate::history::read::{HistoryError, Source};

/// Gives each witness that is still sought its line.
pub(super) fn locate(
    sources: &[Source],
    ledger: &Ledger,
    findings: &mut Findings,
) -> Result<(), HistoryError> {
    for (file, source) in sources.iter().enumerate() {
        let witnesses = findings.kept.iter_mut().flat_map(|finding| &mut finding.witnesses);
        let here = witnesses.filter(|witness| {
            let its = ledger.processes[witness.at.process as usize].file;
            witness.sought.is_some() && its == index(file)
        });
        let mut sought: Vec<&mut Witness> = here.collect();
        // The next to begin is the last.
        sought.sort_by_key(|witness| std::cmp::Reverse(witness.at.line));
        search(source, ledger, sought)?;
    }
    Ok(())
}

fn search(
    source: &Source,
    ledger: &Ledger,
    mut sought: Vec<&mut Witness>,
) -> Result<(), HistoryError> {
    let mut near: Vec<&mut Witness> = Vec::new();
    let mut lines = source.lines()?;
    while !(sought.is_empty() && near.is_empty()) {
        let Some((line, _)) = lines.next()? else { break };
        while let Some(next) = sought.pop_if(|next| next.at.line <= line.number) {
            near.push(next);
        }
        if near.is_empty() {
            continue;
        }
        if let Ok(Event::Give(give)) = line.event() {
            for witness in &mut near {
                let number = witness.generator.map(|g| ledger.generators[g as usize].number);
                let is_it = witness.sought.is_some_and(|sought| holds(&give, sought.id));
                if number == Some(give.generator) && is_it {
                    witness.at.line = line.number;
                    witness.sought = None;
                }
            }
        }
        near.retain(|witness| witness.sought.is_some_and(|sought| sought.until > line.number));
    }
    Ok(())
}

fn holds(give: &Give, id: i64) -> bool {
    let to = give.to.unwrap_or(give.id);
    (give.id.min(to)..=give.id.max(to)).contains(&id)
}
