from prepex import instances as instances
from prepex import plot as plot
from prepex.alternatives import Alternative as Alternative
from prepex.alternatives import Evidence as Evidence
from prepex.alternatives import evidence as evidence
from prepex.bound import Bound as Bound
from prepex.bound import characteristic_time as characteristic_time
from prepex.cone import Cone as Cone
from prepex.cone import one as one
from prepex.family import Gaussian as Gaussian
from prepex.problem import Problem as Problem

__version__: str
