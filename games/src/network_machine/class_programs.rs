//! Code for the positions of a class.
//!
//! Knowing whose turn it is makes half of a network constant. So each frequent
//! position class has code of its own, compiled from the network's cofactor; all
//! other classes share the code of the whole network.

use std::sync::{Arc, OnceLock};

use super::frequent_classes::FrequentClasses;
use super::joint_code::SharedJointCode;
use super::position_classes::PositionClasses;
use crate::compiled_network::CompiledNetwork;
use crate::compiled_network::packed::PackedProgram;
use crate::network::{Network, cofactor};

/// The code of the whole network for many positions, and for one position that of the whole
/// network and of its cofactor for each frequent class; compiled on first use.
#[derive(Debug)]
pub(super) struct ClassPrograms {
    pub(super) network: Arc<Network>,
    frequent: FrequentClasses,
    /// By role: the number of goals of the roles before.
    pub(super) first_goals: Vec<usize>,
    whole: OnceLock<Arc<CompiledNetwork>>,
    /// For positions of all other classes.
    others: OnceLock<Arc<PackedProgram>>,
    /// By class.
    own: Vec<OnceLock<Arc<PackedProgram>>>,
    /// By class: the code for the successors of a position.
    successors: Vec<OnceLock<Arc<CompiledNetwork>>>,
    /// By class.
    pub(super) joint_code: Vec<SharedJointCode>,
}

impl ClassPrograms {
    /// Compiles nothing yet.
    pub(super) fn new(network: Arc<Network>, frequent: FrequentClasses) -> Self {
        let own: Vec<_> = frequent.classes().all().map(|_| OnceLock::new()).collect();
        let mut first_goals = Vec::new();
        let mut n_goals = 0;
        for role in &network.roles {
            first_goals.push(n_goals);
            n_goals += role.goals.len();
        }
        Self {
            first_goals,
            network,
            frequent,
            whole: OnceLock::new(),
            others: OnceLock::new(),
            joint_code: own.iter().map(|_| SharedJointCode::default()).collect(),
            successors: own.iter().map(|_| OnceLock::new()).collect(),
            own,
        }
    }

    /// The classification.
    pub(super) fn classes(&self) -> &PositionClasses {
        self.frequent.classes()
    }

    /// The code for many positions of any class.
    pub(super) fn whole(&self) -> &Arc<CompiledNetwork> {
        self.whole.get_or_init(|| Arc::new(CompiledNetwork::new(Arc::clone(&self.network))))
    }

    /// Whether a class is frequent.
    pub(super) fn is_often(&self, class: usize) -> bool {
        self.frequent.is_often(class)
    }

    /// The code for a position of a class.
    pub(super) fn of_class(&self, class: usize) -> &Arc<PackedProgram> {
        if !self.has_own(class) {
            return self
                .others
                .get_or_init(|| Arc::new(PackedProgram::new(Arc::clone(&self.network))));
        }
        self.own[class].get_or_init(|| Arc::new(PackedProgram::new(self.cofactor(class))))
    }

    /// The code for the successors of positions of a class. It cannot judge the successors
    /// themselves, which may be of another class. `None` if the class has no code of its own.
    pub(super) fn successors(&self, class: usize) -> Option<&Arc<CompiledNetwork>> {
        let new = || Arc::new(CompiledNetwork::new(self.cofactor(class)));
        self.has_own(class).then(|| self.successors[class].get_or_init(new))
    }

    /// What is left of the network in a class.
    fn cofactor(&self, class: usize) -> Arc<Network> {
        Arc::new(cofactor(&self.network, &self.classes().known(class)))
    }

    /// Whether a class has code of its own.
    fn has_own(&self, class: usize) -> bool {
        self.frequent.has_own(class)
    }

    /// Whether some classes may have code of their own.
    pub(super) fn is_split(&self) -> bool {
        self.own.len() > 1
    }
}
