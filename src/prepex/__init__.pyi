from prepex import instances as instances
from prepex import plot as plot
from prepex import sampling as sampling
from prepex import stopping as stopping
from prepex.alternatives import Evidence as Evidence
from prepex.alternatives import evidence as evidence
from prepex.bound import Bound as Bound
from prepex.bound import characteristic_time as characteristic_time
from prepex.cone import Cone as Cone
from prepex.cone import one as one
from prepex.experiment import Experiment as Experiment
from prepex.experiment import Recommendation as Recommendation
from prepex.family import Bernoulli as Bernoulli
from prepex.family import Exponential as Exponential
from prepex.family import Gaussian as Gaussian
from prepex.family import Poisson as Poisson
from prepex.family import Product as Product
from prepex.problem import Problem as Problem
from prepex.runs import Runs as Runs
from prepex.simulation import simulate as simulate
from prepex.solvers import Alternative as Alternative

__version__: str
