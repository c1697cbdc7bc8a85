"""Two-bit gradient compression: send one threshold up, down or nothing, keep the rest."""

from __future__ import annotations

from ..base import ArgumentError, MXNetError, StorageError


class TwoBit:
    """Quantises arrays to ``-threshold``, 0 or ``+threshold`` and remembers what was lost.

    Every key and device has its own remainder; it is added to the next gradient, so nothing is lost
    for ever.

    Examples
    --------
    >>> send = TwoBit(0.5)
    >>> [float(send("w", [nd.array([0.4])])[0].asscalar()) for _ in range(3)]
    [0.0, 0.5, 0.5]
    """

    def __init__(self, threshold):
        self.threshold = threshold
        self.residuals = {}

    @classmethod
    def from_params(cls, params):
        """By the dict a store's ``set_gradient_compression`` takes."""
        if not isinstance(params, dict):
            raise ArgumentError(f"compression_params is a dict, not {type(params)}")
        if "type" not in params:
            raise MXNetError("Required parameter type of string is not presented")
        if params["type"] != "2bit":
            raise ArgumentError(
                f"Unknown type for gradient compression {params['type']}.\n"
                f"  received  {params}\n"
                "  expected  type '2bit'\n"
                "  fix       {'type': '2bit', 'threshold': 0.5}, or no compression at all"
            )
        threshold = float(params.get("threshold", 0.5))
        if not threshold > 0:
            raise ArgumentError(f"threshold must be greater than 0, not {threshold}")
        return cls(threshold)

    def __call__(self, key, values):
        """What to send for each device's gradient of a key."""
        return [self._quantised((key, device), value) for device, value in enumerate(values)]

    def _quantised(self, slot, gradient):
        if gradient.stype != "default":
            raise StorageError("gradient compression takes dense gradients only")
        known = self.residuals.get(slot)
        total = gradient if known is None else known + gradient
        sent = self.threshold * ((total >= self.threshold) - (total <= -self.threshold))
        self.residuals[slot] = total - sent
        return sent
