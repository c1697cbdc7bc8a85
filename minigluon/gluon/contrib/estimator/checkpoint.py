"""Saving the network and the trainer while training, and going on from what was saved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ....base import ArgumentError, four_lines
from .events import BatchEnd, EpochEnd, TrainBegin, comparison, require_monitor


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and the trainer's states after every so many epochs or batches.

    Files are called ``<prefix>-epoch0batch100.params`` and ``.states``; of a hybridized network
    there is ``<prefix>-symbol.json`` too.

    Parameters
    ----------
    model_dir, model_prefix : folder of the files, and what their names begin with.
    monitor : the metric that decides what is best, one of the estimator's.
    verbose : tell the estimator's logger about every file.
    save_best : keep the best ones as ``<prefix>-best.params`` as well.
    mode : ``"min"``, ``"max"`` or ``"auto"``, which goes by the metric's name.
    epoch_period, batch_period : after how many epochs, batches; None for not at all.
    max_checkpoints : older files are deleted.
    resume_from_checkpoint : go on from the last files in the folder. The epochs or batches that
        ``fit`` is asked for include those that were done.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: Any = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ):
        if save_best:
            require_monitor(monitor, "To save best model only, p")
        self.monitor, self.verbose, self.save_best = monitor, verbose, save_best
        self.model_dir, self.model_prefix = str(model_dir), model_prefix
        Path(model_dir).mkdir(parents=True, exist_ok=True)
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.current_batch = self.current_epoch = 0
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.trained_epochs = self.trained_batches = 0
        if save_best:
            self.monitor_op = comparison("ModelCheckpoint", mode, monitor)
            self.best = -np.inf if self.monitor_op is np.greater else np.inf

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Begin to count, from what the folder has if asked to."""
        self.current_batch = self.current_epoch = 0
        self.trained_epochs = self.trained_batches = 0
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Save if it is time to."""
        if self.current_batch == 0:
            self._save_symbol(estimator)
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            resumed = self.trained_batches > 0
            self._save(estimator, self.current_batch - (0 if resumed else 1))
        return False

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Save if it is time to."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save(estimator, self.current_batch)
        self.current_epoch += 1
        return False

    def _save(self, estimator: Any, batch: int) -> None:
        epoch = self.current_epoch + self.trained_epochs
        name = f"{self.model_prefix}-epoch{epoch}batch{batch + self.trained_batches}"
        self._tell(
            estimator,
            f"trained total {self.current_batch + self.trained_batches} batches, saving model at "
            f"{self.model_dir} with prefix: {name}",
        )
        self._write(estimator, name)
        self.saved_checkpoints.append(name)
        if len(self.saved_checkpoints) > self.max_checkpoints:
            old = self.saved_checkpoints.pop(0)
            for ending in (".params", ".states"):
                (Path(self.model_dir) / (old + ending)).unlink(missing_ok=True)
        if self.save_best:
            self._save_best(estimator)

    def _save_best(self, estimator: Any) -> None:
        name, value = self.monitor.get()
        if np.isnan(value):
            estimator.logger.warning(
                "%s is not updated, make sure the metric is one of the estimator's", name
            )
        elif self.monitor_op(value, self.best):
            best = f"{self.model_prefix}-best"
            self._tell(
                estimator,
                f"{name} improved from {self.best:.5f} to {value:.5f}, updating best model at "
                f"{self.model_dir} with prefix: {best}",
            )
            self.best = value
            self._write(estimator, best)
        else:
            self._tell(
                estimator,
                f"{name} did not improve from {self.best:.5f}, skipping updating best model",
            )

    def _tell(self, estimator: Any, text: str) -> None:
        if self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: %s", self.current_epoch, text)

    def _write(self, estimator: Any, name: str) -> None:
        path = Path(self.model_dir) / name
        estimator.net.save_parameters(f"{path}.params")
        estimator.trainer.save_states(f"{path}.states")

    def _save_symbol(self, estimator: Any) -> None:
        path = Path(self.model_dir) / f"{self.model_prefix}-symbol.json"
        graph = getattr(estimator.net, "_cached_graph", None)
        if graph:
            graph[1].save(str(path))
        else:
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct "
                "your model, and call net.hybridize() before passing to Estimator in order to "
                "save model architecture as %s.",
                path,
            )

    def _resume(self, estimator: Any) -> None:
        """Read the last files, and take what they have done from what there is to do."""
        asked = "epoch" if estimator.max_epoch else "batch"
        total = estimator.max_epoch or estimator.max_batch
        plural = {"epoch": "epochs", "batch": "batches"}[asked]
        last = self._last()
        if last is None:
            self._tell_plain(
                estimator, f"No checkpoint found, training from scratch for {total} {plural}"
            )
            return
        epoch, batch = last
        done = epoch + 1 if asked == "epoch" else batch
        if done >= total:
            raise ArgumentError(
                four_lines(
                    f"Found checkpoint with maximum number of {asked} {total} reached, please "
                    "specify resume_from_checkpoint=False (default value) if you wan to train "
                    "from scratch.",
                    f"epoch {epoch}, batch {batch} in {self.model_dir}",
                    f"fewer than {total} {plural} done",
                    "ask fit for more, or pass resume_from_checkpoint=False",
                )
            )
        path = Path(self.model_dir) / f"{self.model_prefix}-epoch{epoch}batch{batch}"
        estimator.net.load_parameters(f"{path}.params", ctx=estimator.context)
        if Path(f"{path}.states").is_file():
            estimator.trainer.load_states(f"{path}.states")
        if estimator.max_epoch:
            estimator.max_epoch -= done
        else:
            estimator.max_batch -= done
        self.trained_epochs, self.trained_batches = epoch + 1, batch
        self._tell_plain(
            estimator,
            f"Checkpoint resumed from epoch {epoch} batch {batch}, continue to train for "
            f"{total - done} {plural} ",
        )

    def _tell_plain(self, estimator: Any, text: str) -> None:
        estimator.logger.info("CheckpointHandler: %s", text)

    def _last(self) -> tuple[int, int] | None:
        pattern = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.params")
        found = [pattern.fullmatch(path.name) for path in Path(self.model_dir).iterdir()]
        return max(((int(m[1]), int(m[2])) for m in found if m), default=None)
