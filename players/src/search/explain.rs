//! What a search can say of its answer: the moves it looked at, and the line that it
//! expects.

use games::{ReasoningError, State};

use super::frame::Frame;
use super::transposition_table::Bound;
use super::{Opponents, RootValue, Search, Value};
use crate::{Candidate, ExpectedStep, ValueBound};

/// Maximum number of steps of a line.
const MAX_LINE: usize = 64;

impl Search<'_> {
    /// Notes what the iteration that has just ended found out about `state`.
    pub(super) fn explain(&mut self, state: &State, value: Value) {
        self.root_values.sort_unstable_by_key(|found| found.index);
        let legal = &self.frames[0].legal[self.roles.index()];
        // Max^n searches all moves alike, and notes no proof of each.
        let has_proofs = self.settings.opponents != Opponents::MaxN;
        let is_estimate = |found: &RootValue| has_proofs && value.proven && !found.proven;
        let candidates: Vec<Candidate> = match &self.root_strategy {
            Some(strategy) => {
                let shares = legal.iter().zip(strategy);
                let of = |(&action, &share): (_, &f64)| Candidate {
                    action,
                    value: None,
                    bound: ValueBound::Exact,
                    visits: 0,
                    probability: Some(share),
                };
                shares.map(of).collect()
            }
            None => {
                let of = |found: &RootValue| Candidate {
                    action: legal[found.index],
                    value: Some(found.score.clamp(0.0, 100.0)),
                    bound: match is_estimate(found) {
                        true => ValueBound::Estimate,
                        false => found.bound,
                    },
                    visits: 0,
                    probability: None,
                };
                self.root_values.iter().map(of).collect()
            }
        };
        // A line that cannot be computed any more ends where it is. A mixed strategy has none:
        // its move is drawn.
        let mut line = Vec::new();
        if self.root_strategy.is_none() {
            let _ = self.follow_line(state, &mut line);
        }
        let deliberation = &mut self.stopwatch.deliberation;
        // What an earlier search found is deeper than this one entered.
        let [limit, known] =
            [self.limit, self.known_depth].map(|depth| u32::try_from(depth).unwrap_or(u32::MAX));
        deliberation.depth = limit.min(deliberation.selective_depth.max(known));
        deliberation.value = Some(value.score.clamp(0.0, 100.0));
        deliberation.candidates = candidates;
        deliberation.line = line;
    }

    /// The steps that are best for those who choose: those of the search, then what the table
    /// remembers.
    fn follow_line(
        &mut self,
        root: &State,
        line: &mut Vec<ExpectedStep>,
    ) -> Result<(), ReasoningError> {
        let opponents = self.settings.opponents;
        let has_replies = matches!(opponents, Opponents::Paranoid | Opponents::Cooperative);
        let mut frame = Frame::new(self.roles.n_roles);
        frame.begin(root);
        let searched = self.frames[0].line.clone();
        let longest = if self.settings.extends_forced { MAX_LINE } else { self.limit };
        while line.len() < MAX_LINE.min(longest) {
            let level = line.len();
            if frame.is_terminal(self.machine, None)?
                || !frame.list_moves(self.machine, None, &self.ranks)?
            {
                break;
            }
            let choice = match level {
                0 => self.frames[0].best.map(|best| (best, self.frames[0].best_reply)),
                _ if level < searched.len() => Some(searched[level]),
                _ => {
                    let entry = self.memory.table.get(self.machine.key(&frame.state));
                    let entry = entry.filter(|entry| entry.bound != Bound::Upper);
                    entry.and_then(|entry| Some((entry.best?, entry.best_reply)))
                }
            };
            let Some((mine, reply)) = choice else { break };
            frame.pick(self.roles.index(), mine);
            let chance_moves = self.roles.chance.map_or(1, |chance| frame.legal[chance].len());
            let has_choice = frame.legal[self.roles.index()].len() > 1;
            // Of simultaneous choices, only mine is known.
            let knows_reply = has_replies || (opponents == Opponents::Matrix && !has_choice);
            if !knows_reply && self.roles.n_replies(&frame) > 1 {
                if has_choice {
                    line.push(vec![(self.roles.me, frame.joint[self.roles.index()])]);
                }
                break;
            }
            self.roles.set_reply(&mut frame, reply);
            let is_chance_alone = chance_moves > 1
                && (0..self.roles.n_roles)
                    .all(|role| Some(role) == self.roles.chance || frame.legal[role].len() == 1);
            if !is_chance_alone {
                line.push(self.expected_step(&frame));
            }
            if chance_moves > 1 {
                break;
            }
            if let Some(chance) = self.roles.chance {
                frame.pick(chance, 0);
            }
            let mut next = State::default();
            self.machine.next_state(&frame.state, &frame.joint, &mut next)?;
            frame.begin(&next);
        }
        Ok(())
    }

    /// The moves in the frame of the roles that have a choice; of all if none has.
    fn expected_step(&self, frame: &Frame) -> ExpectedStep {
        let chance = self.roles.chance;
        let roles =
            self.machine.game().role_ids().filter(|role| Some(usize::from(role.0)) != chance);
        let all = roles.map(|role| (role, frame.joint[usize::from(role.0)]));
        let has_choice = |role: &games::RoleId| frame.legal[usize::from(role.0)].len() > 1;
        let choosing: ExpectedStep = all.clone().filter(|(role, _)| has_choice(role)).collect();
        if choosing.is_empty() { all.collect() } else { choosing }
    }
}
