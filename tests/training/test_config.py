"""Settings: what is accepted, and what is said of what is not."""

import pytest
from pydantic import ValidationError

from egoequiv.cli.settings import parse_settings
from egoequiv.errors import ConfigError
from egoequiv.training import make_config


def test_settings_from_strings() -> None:
    values = parse_settings(["learning_rate=0.5", "weight.equivariance=2", "motions=up, right"])
    config = make_config({"data": "x", "method": "equiv", **values})
    assert config.learning_rate == 0.5
    assert config.motions == ("up", "right")
    assert {t.name: t.weight for t in config.objective().terms} == {"classification": 1.0, "equivariance": 2.0}


def test_a_config_is_frozen_and_survives_json() -> None:
    config = make_config({"data": "x", "method": "equiv+drlim", "margin": {"slowness": 0.5}})
    assert make_config(config.model_dump(mode="json")) == config
    with pytest.raises(ValidationError):
        config.seed = 3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"learning_rate": -1}, "learning_rate=-1"),
        ({"iterations": 0}, "iterations=0 trains nothing: give at least 1, or --method random"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"lerning_rate": 1}, "'lerning_rate' is not known"),
        ({"method": "equivv"}, "choose one of random, clsnet"),
        ({"weight": {"slownes": 1}}, "weight.slownes"),
        ({"method": "equiv", "weight": {"equivariance": -1}}, "must not be negative"),
        ({"margin": {"classification": 1}}, "margin.classification"),
        ({"method": "clsnet", "use_labels": False}, "labels only"),
        ({"checkpoint_every": 150}, "multiple of log_every"),
        ({"iterations": -1}, "iterations=-1"),
        ({"encoder": "kitty"}, "did you mean 'kitti'"),
        ({"encoder": 3}, "encoder=3"),
        (
            {"encoder": "norb", "encoder_settings": {"size": 3}},
            "encoder 'norb' has no setting 'size'; it has hidden_units, feature_dim",
        ),
        ({"steps": {"views": 3}}, "setting 'steps' is not known"),
        ({"weigth": {"equivariance": 3}}, "setting 'weigth' is not known, did you mean 'weight'"),
        ({"batch_size": 0}, "batch_size=0"),
    ],
)
def test_bad_settings_are_named(values: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("+", r"\+")) as caught:
        make_config({"data": "x", **values})
    assert "\n" not in str(caught.value)


def test_settings_of_the_encoder_and_numbers_of_terms() -> None:
    values = parse_settings(["encoder=kitti", "encoder.feature_dim=32", "steps.views=3", "margin.equivariance=0.4"])
    config = make_config({"data": "x", "method": "equiv+views", **values})
    assert (config.encoder, config.encoder_settings) == ("kitti", {"feature_dim": 32})
    assert config.term_settings == {"steps": {"views": 3.0}}
    assert [repr(term) for term in config.objective().terms[1:]] == [
        "Equivariance(weight=1.0, margin=0.4)",
        "ImaginedViews(weight=1.0, steps=3)",
    ]
    assert make_config(config.model_dump(mode="json")) == config


def test_a_config_of_older_runs_has_no_such_settings() -> None:
    values = make_config({"data": "x"}).model_dump(mode="json")
    del values["encoder_settings"], values["term_settings"]
    assert make_config(values) == make_config({"data": "x"})


@pytest.mark.parametrize("text", ["learning_rate", "=3", ""])
def test_an_assignment_needs_key_and_value(text: str) -> None:
    with pytest.raises(ConfigError, match="key=value"):
        parse_settings([text])
