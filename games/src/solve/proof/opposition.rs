//! Whether what one role gains the other one loses.

use super::ProofError;

/// The rewards of the second role by those of the first, in the terminal states met so far.
/// They must fall strictly where those of the first rise: only then does the second role,
/// which plays for itself, play against the first.
#[derive(Clone, Debug)]
pub(super) struct Opposition {
    seconds: [Option<u8>; 101],
}

impl Default for Opposition {
    fn default() -> Self {
        Self { seconds: [None; 101] }
    }
}

impl Opposition {
    /// Notes the rewards of a terminal state.
    pub(super) fn note(&mut self, first: u8, second: u8) -> Result<(), ProofError> {
        let at = usize::from(first);
        if self.seconds[at] == Some(second) {
            return Ok(());
        }
        let known = || (0..).zip(&self.seconds).filter_map(|(at, known)| Some((at, (*known)?)));
        let is_opposed = |other: (u8, u8)| {
            other.0 < first && other.1 > second || other.0 > first && other.1 < second
        };
        if let Some(other) = known().find(|&other| !is_opposed(other)) {
            return Err(ProofError::NotOpposed { rewards: [other, (first, second)] });
        }
        self.seconds[at] = Some(second);
        Ok(())
    }

    /// Notes all that another has noted.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), ProofError> {
        for (first, second) in (0..).zip(&other.seconds) {
            if let Some(second) = *second {
                self.note(first, second)?;
            }
        }
        Ok(())
    }

    /// What the second role gets where the first one gets this, if such a state was met.
    pub(super) fn second(&self, first: u8) -> Option<u8> {
        self.seconds.get(usize::from(first)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_gains_the_other_must_lose() {
        let check = |rewards: &[(u8, u8)], is_opposed: bool| {
            let mut found = Opposition::default();
            let all: Result<(), _> =
                rewards.iter().try_for_each(|&(first, second)| found.note(first, second));
            assert_eq!(all.is_ok(), is_opposed, "{rewards:?}");
        };
        check(&[(100, 0), (0, 100), (50, 50), (100, 0)], true);
        check(&[(90, 5), (20, 10), (0, 100)], true);
        check(&[(100, 0), (100, 50)], false);
        check(&[(100, 0), (0, 0)], false);
        check(&[(80, 80), (0, 0)], false);
        let mut one = Opposition::default();
        let mut two = Opposition::default();
        one.note(100, 0).unwrap();
        two.note(0, 0).unwrap();
        assert!(one.merge(&two).is_err());
    }
}
