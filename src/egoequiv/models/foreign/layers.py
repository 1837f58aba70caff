"""What the layers inside a model give: forward hooks on modules by name, and feature vectors from what they catch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError

OUTPUT = "output"  # the name of what a model returns, beside those of its layers
Pooling = Literal["mean", "flatten"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def check_pooling(pooling: str) -> None:
    """Refuse what is done neither to maps nor to tokens."""
    if pooling not in POOLINGS:
        raise ConfigError(f"pooling {pooling!r} is not known; choose {' or '.join(POOLINGS)}")


def check_layer(name: str, known: Iterable[str], whose: str) -> None:
    """Refuse a layer that no model has, and say which are called nearly so."""
    names = list(dict.fromkeys(known))
    if name in names:
        return
    if not names:
        raise ConfigError(f"layer {name!r}: {whose} has no layers that can be looked into; leave out --layer")
    close = get_close_matches(name, names, n=4, cutoff=0.4) or names[:4]
    raise ConfigError(f"layer {name!r} is not known in {whose}; did you mean {', '.join(close)}?")


def module_names(module: nn.Module) -> tuple[str, ...]:
    """The names of all modules inside a module."""
    return tuple(name for name, _ in module.named_modules() if name)


def run_with_layers(
    module: nn.Module, call: Callable[[Tensor], Any], images: Tensor, layers: Sequence[str]
) -> dict[str, Any]:
    """What `call`, which runs the module, returns for images, and what the named modules inside gave meanwhile.

    Where only modules inside are named, what comes after the last of them is not computed.
    """
    caught: dict[str, Any] = {}

    def catcher(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def catch(_module: nn.Module, _inputs: Any, output: Any) -> None:
            caught[name] = first_tensor(output)
            if len(caught) == len(set(layers)) and not torch.compiler.is_compiling():  # a tracer must come to the end
                raise _AllCaught

        return catch

    inside = dict(module.named_modules())
    hooks = [inside[name].register_forward_hook(catcher(name)) for name in layers if name != OUTPUT]
    try:
        caught[OUTPUT] = call(images)
    except _AllCaught:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    missed = [name for name in layers if name not in caught]
    if missed:
        raise DataError(f"layer {missed[0]!r} was not run: the model has it and does not use it here")
    return {name: caught[name] for name in layers}


class _AllCaught(Exception):  # noqa: N818, because it is no error
    """All layers that were named have been run."""


def first_tensor(output: Any) -> Any:
    """What a layer gives: attention gives a tuple, and an encoder of transformers a mapping, whose first is meant."""
    if isinstance(output, Mapping):
        output = tuple(output.values())
    return output[0] if isinstance(output, tuple) and output else output


def pooled(values: NDArray[np.float32], pooling: Pooling) -> NDArray[np.float32]:
    """Feature vectors (N, D) from vectors (N, D), tokens (N, T, D) or maps (N, D, H, W).

    The mean is taken over tokens or over places; flattened, every token or place counts by itself.
    """
    if values.ndim > 2 and pooling == "mean":
        averaged: NDArray[np.float32] = values.mean(axis=1 if values.ndim == 3 else tuple(range(2, values.ndim)))
        return averaged
    return values.reshape(len(values), -1)


def to_array(value: Any) -> NDArray[np.float32] | None:
    """A tensor or an array of real numbers as float32, None if it is neither."""
    if isinstance(value, Tensor):
        if value.is_complex() or value.is_meta or value.layout != torch.strided:
            return None
        value = value.detach().to("cpu", torch.float32).numpy()
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return None
    return np.asarray(value, np.float32)


def kind_of_value(value: Any) -> str:
    """What something is that is no array of real numbers, such as "a tensor laid out as sparse_coo" or "a list"."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    if not isinstance(value, Tensor):
        return f"a {type(value).__name__}"
    if value.is_meta:
        return "a tensor without values (of the device meta)"
    if value.layout != torch.strided:
        return f"a tensor laid out as {str(value.layout).removeprefix('torch.')}"
    return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
