"""Data that outgrow memory, or the machine: partitions, and exact training over them."""

from maxmargin.scale.arrays import ArrayPartitions
from maxmargin.scale.files import DatasetPartitions, LibsvmPartitions
from maxmargin.scale.on_dask import ClusterLost, DaskPartitions
from maxmargin.scale.partitions import Block, LocalPartitions, Partitions

__all__ = [
    "ArrayPartitions",
    "Block",
    "ClusterLost",
    "DaskPartitions",
    "DatasetPartitions",
    "LibsvmPartitions",
    "LocalPartitions",
    "Partitions",
]
