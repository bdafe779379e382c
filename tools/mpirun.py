"""How tests and examples start several MPI processes on one machine."""

import os
import shutil


def command(ranks, *program):
    """Starts `program` as so many processes, however few cores there are."""
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *program]


def environment():
    """Open MPI within one machine, also for root and in containers, which may have neither
    ssh nor the rights to copy from another process's memory."""
    return dict(os.environ,
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_plm="isolated", OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1",
                OMPI_MCA_btl_vader_single_copy_mechanism="none",
                OMPI_MCA_mpi_yield_when_idle="1")


def exists():
    return shutil.which("mpirun") is not None
