"""Fleet: several accounts at once."""

from chatkit.bulk.fleet_plan import register_cluster
from chatkit.fleet.cluster import on_cluster

register_cluster(on_cluster)
