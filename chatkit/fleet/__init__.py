"""Fleet: several accounts at once."""

from chatkit.fleet.cluster import on_cluster
from chatkit.fleet_plan import register_cluster

register_cluster(on_cluster)
