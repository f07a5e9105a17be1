"""Data that outgrow memory, or the machine: partitions, and exact training over them."""

from maxmargin.scale.arrays import ArrayPartitions
from maxmargin.scale.files import LibsvmPartitions, ParquetPartitions
from maxmargin.scale.on_dask import ClusterLost, DaskPartitions
from maxmargin.scale.partitions import Block, Partitions

__all__ = [
    "ArrayPartitions",
    "Block",
    "ClusterLost",
    "DaskPartitions",
    "LibsvmPartitions",
    "ParquetPartitions",
    "Partitions",
]
