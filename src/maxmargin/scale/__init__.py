"""Data that outgrow memory, or the machine: partitions, and exact training over them."""

from typing import TYPE_CHECKING, Any

from maxmargin.scale.arrays import ArrayPartitions
from maxmargin.scale.files import DatasetPartitions, LibsvmPartitions
from maxmargin.scale.on_dask import ClusterLost, DaskPartitions
from maxmargin.scale.partitions import Block, LocalPartitions, Partitions

if TYPE_CHECKING:
    from maxmargin.scale.scaler import StandardScaler

__all__ = [
    "ArrayPartitions",
    "Block",
    "ClusterLost",
    "DaskPartitions",
    "DatasetPartitions",
    "LibsvmPartitions",
    "LocalPartitions",
    "Partitions",
    "StandardScaler",
]


def __getattr__(name: str) -> Any:
    """The scaler when it is asked for: what it is made of is slow to import."""
    if name != "StandardScaler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from maxmargin.scale.scaler import StandardScaler

    return StandardScaler
