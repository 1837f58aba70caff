"""The interface on frames whose features and maps are known exactly."""

import numpy as np
import pytest
from starlette.testclient import TestClient

from egoequiv.models.motion_model import Features, Motion
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.service import Service
from egoequiv.store import FrameStore
from serving.known import KnownModel, client_of, known_service, png, row_at, text_of


def test_features_of_frames_pictures_and_files_are_the_same(
    client: TestClient, service: Service, small_store: FrameStore
) -> None:
    file = png(small_store.images[7])
    body = {"views": [{"frame": 7}, {"image": text_of(file)}, {"image": f"data:image/png;base64,{text_of(file)}"}]}
    by_json = client.post("/v1/embed", json=body).json()["features"]
    by_file = client.post("/v1/embed/files", files=[("images", ("a.png", file))] * 2).json()["features"]
    unknown = client.post("/v1/embed/files", files={"images": ("a.png", file)}, data={"part": "colour"})
    assert unknown.status_code == 422
    assert len(by_json) == 3
    assert len(by_file) == 2
    np.testing.assert_allclose(
        [*by_json, *by_file], np.tile(service.model.embed(small_store.images[7:8]), (5, 1)), atol=1e-7
    )


def test_one_part_of_the_features(client: TestClient) -> None:
    whole = client.post("/v1/embed", json={"views": [{"frame": 3}]}).json()["features"][0]
    part = client.post("/v1/embed", json={"views": [{"frame": 3}], "part": "equivariant"}).json()["features"][0]
    assert part == whole[:4]
    answer = client.post("/v1/embed", json={"views": [{"frame": 3}], "part": "other"})
    assert answer.status_code == 422
    assert answer.json() == {
        "detail": "the features of this network have no part 'other': its parts are all, equivariant, invariant"
    }


def test_a_picture_of_another_size_and_colour_is_fitted(client: TestClient) -> None:
    white = png(np.full((40, 30, 3), 255, np.uint8))
    features = client.post("/v1/embed/files", files={"images": white}).json()["features"][0]
    np.testing.assert_allclose(features[4:], np.ones(6), atol=1e-6)  # the mean brightness


def test_features_after_a_chain(client: TestClient, small_store: FrameStore) -> None:
    start, end = row_at(small_store, 2, 40, 60), row_at(small_store, 2, 50, 180)
    wanted = client.post("/v1/embed", json={"views": [{"frame": end}]}).json()["features"][0]
    for motions in (["up", "right", "right"], [[10.0, 120.0]], ["right", [10.0, 60.0]]):
        answer = client.post("/v1/predict", json={"view": {"frame": start}, "motions": motions}).json()
        np.testing.assert_allclose(answer["features"], wanted, atol=1e-6)
        assert answer["moved"] > 0.5


def test_a_motion_that_is_too_large_is_named(small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    service = known_service(small_store)
    monkeypatch.setattr(service.model, "_after_vectors", lambda features, motions: features + motions[0, 0] ** 2)
    with client_of(service) as client:
        body = {"view": {"frame": 0}, "motions": ["up", [2000.0, 0.0]]}
        said = client.post("/v1/predict", json=body).json()["detail"]
    assert said.startswith(
        "motions: motion [2000.0, 0.0] is too large, the features after it reach 4e+06, at most 1e+06"
    )


def test_nearest_frames_after_motions_beside_the_one_that_is_there(client: TestClient, small_store: FrameStore) -> None:
    start, end = row_at(small_store, 1, 40, 300), row_at(small_store, 1, 50, 0)
    body = {"view": {"frame": start}, "motions": ["up", "right"], "count": 3}
    answer = client.post("/v1/nearest", json=body).json()
    assert answer["frames"][0]["row"] == end
    assert len(answer["frames"]) == 3
    assert answer["truth"]["rank"] == 1
    assert answer["truth"]["searched"] == len(small_store)
    assert answer["truth"]["frame"]["pose"] == {"elevation_deg": 50.0, "azimuth_deg": 0.0}
    distances = [frame["distance"] for frame in answer["frames"]]
    assert distances == sorted(distances)
    assert distances[0] < 1e-3 < distances[1]


def test_a_picture_unlike_all_frames_is_said(client: TestClient) -> None:
    white = text_of(png(np.full((12, 12, 3), 255, np.uint8)))
    for view, unusual in (({"frame": 3}, False), ({"image": white}, True)):
        assert client.post("/v1/nearest", json={"view": view}).json()["unusual"] is unusual
        equivariant = client.post("/v1/nearest", json={"view": view, "part": "equivariant"}).json()
        assert equivariant["unusual"] is False  # its pose is one of the grid


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (
            "predict",
            '{"view": {"frame": 0}, "motions": [[1e7, 0]]}',
            "motions.0.vector.0: Input should be less than or equal to 1000000, found 10000000.0",
        ),
        ("predict", '{"view": {"frame": 0}, "motions": [3]}', "motions.0.name: Input should be a valid string"),
        ("predict", '{"view": {"frame": 0}, ', "the body is not JSON: "),
        ("predict", '"up"', "the body was not read as a JSON object: send one, with the header content-type"),
        ("pairs", '{"i": 4, "j": 4}', "i and j are the same frame: a pair is of two"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(client: TestClient, path: str, content: str, said: str) -> None:
    answer = client.post(f"/v1/{path}", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(said)


def test_no_frame_is_really_there_beyond_the_grid_or_for_a_picture(client: TestClient, small_store: FrameStore) -> None:
    top = {"view": {"frame": row_at(small_store, 0, 60, 0)}, "motions": ["up"]}
    picture = {"view": {"image": text_of(png(small_store.images[0]))}, "motions": ["up"]}
    for body in (top, picture, {"view": {"frame": 0}}, {"view": {"frame": 0}, "motions": [[10.0, 0.0]]}):
        assert client.post("/v1/nearest", json=body).json()["truth"] is None


@pytest.mark.parametrize(("exclude", "wanted"), [("none", {5}), ("frame", set()), ("recording", set())])
def test_what_is_left_out_of_a_search(
    client: TestClient, small_store: FrameStore, exclude: str, wanted: set[int]
) -> None:
    answer = client.post("/v1/nearest", json={"view": {"frame": 5}, "count": 50, "exclude": exclude}).json()
    rows = [frame["row"] for frame in answer["frames"]]
    assert {5} & set(rows) == wanted
    own = {frame["recording"] for frame in answer["frames"]}
    assert (int(small_store.recording[5]) in own) == (exclude != "recording")


class StillModel(KnownModel):
    """Predicts that nothing changes, so that the frame before a motion is nearest."""

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        return features


def test_what_is_left_out_does_not_count_in_the_rank(small_store: FrameStore) -> None:
    model = StillModel(small_store)
    gallery = Gallery.embed(model, small_store, lambda *_: None)
    ranks = {}
    with client_of(Service(model, "still", gallery, np.arange(len(small_store)))) as client:
        for exclude in ("none", "frame", "recording"):
            view = {"frame": row_at(small_store, 0, 40, 0)}
            answer = client.post("/v1/nearest", json={"view": view, "motions": ["up"], "exclude": exclude}).json()
            ranks[exclude] = answer["truth"]["rank"]
    assert ranks["none"] > 1  # the frame itself is nearer
    assert ranks["frame"] == ranks["none"] - 1
    assert ranks["recording"] == 1  # frames of other recordings are farther


def test_a_plan_leads_to_the_goal(client: TestClient, small_store: FrameStore) -> None:
    start, goal = row_at(small_store, 3, 30, 0), row_at(small_store, 3, 50, 120)
    plan = client.post("/v1/plan", json={"view": {"frame": start}, "goal": {"frame": goal}}).json()
    assert plan["status"] == "go"
    assert sorted(plan["motions"]) == ["right", "right", "up", "up"]
    assert plan["predicted"] < 1e-3 < plan["distance"]
    assert client.post("/v1/plan", json={"view": {"frame": goal}, "goal": {"frame": goal}}).json()["status"] == "there"


def test_a_walk_goes_through_stored_frames_to_the_goal(client: TestClient, small_store: FrameStore) -> None:
    start, goal = row_at(small_store, 3, 30, 0), row_at(small_store, 3, 50, 120)
    walk = client.post("/v1/walk", json={"frame": start, "goal": {"frame": goal}}).json()
    assert walk["status"] == "there"
    assert len(walk["motions"]) == 4
    assert (walk["frames"][0], walk["frames"][-1], len(walk["frames"])) == (start, goal, 5)
    assert walk["distances"][-1] < 1e-3


def test_next_view_advice_with_its_uncertainty(client: TestClient, small_store: FrameStore) -> None:
    row = row_at(small_store, 4, 40, 60)
    answer = client.post("/v1/next-view", json={"view": {"frame": row}}).json()
    assert answer["guess"] == "cross"
    assert sum(answer["votes"].values()) == 25
    assert answer["suggestions"][0]["motion"] in {"up", "down", "left", "right"}
    bits = [one["uncertainty_bits"] for one in answer["suggestions"]]
    assert bits == sorted(bits)
    leads = {one["motion"]: one["leads_to"] for one in answer["suggestions"]}
    assert leads["up"] == row_at(small_store, 4, 50, 60)
    then = [{"motion": "up", "view": {"frame": leads["up"]}}]
    assert client.post("/v1/next-view", json={"view": {"frame": row}, "then": then}).json()["guess"] == "cross"
    then[0]["motion"] = "fly"
    refused = client.post("/v1/next-view", json={"view": {"frame": row}, "then": then})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("motion 'fly' is not known here; choose from ")


def test_pairs_that_changed_in_the_same_way_have_the_same_motion(client: TestClient, small_store: FrameStore) -> None:
    i, j = row_at(small_store, 0, 40, 60), row_at(small_store, 0, 50, 60)
    answer = client.post("/v1/pairs", json={"i": i, "j": j, "count": 30}).json()
    assert answer["query"]["motion"] == "up"
    assert answer["query"]["vector"] == [10.0, 0.0]
    assert [pair["motion"] for pair in answer["pairs"]] == ["up"] * 30  # 5 other recordings, 6 azimuths
    for pair in answer["pairs"]:
        assert small_store.recording[pair["i"]] == small_store.recording[pair["j"]] != 0
    refused = client.post("/v1/pairs", json={"i": 0, "j": len(small_store) - 1})
    assert (refused.status_code, "two recordings" in refused.json()["detail"]) == (422, True)


def test_frames_their_pictures_and_the_frames_after_each_motion(client: TestClient, small_store: FrameStore) -> None:
    row = row_at(small_store, 2, 30, 300)
    frame = client.get(f"/v1/frames/{row}").json()
    assert frame["recording_name"] == "bar/take-0"
    assert frame["label"] == "bar"
    assert frame["moves"]["right"] == row_at(small_store, 2, 30, 0)
    assert frame["moves"]["down"] is None
    picture = client.get(f"/v1/frames/{row}/image")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content == png(small_store.images[row])


def test_maps_sheets_recordings_and_motions(client: TestClient) -> None:
    found = client.get("/v1/recordings?offset=1&count=2").json()
    assert found["total"] == 6
    assert [one["name"] for one in found["recordings"]] == ["ball/take-1", "bar/take-0"]
    drawn = client.get("/v1/recordings/1/map").json()
    assert drawn["kind"] == "grid"
    assert drawn["axes"] == ["azimuth (deg)", "elevation (deg)"]
    assert len(drawn["points"]) == 24
    assert client.get("/v1/recordings/1/sheet").headers["content-type"] == "image/png"
    motions = client.get("/v1/motions").json()
    assert motions["axes"] == ["azimuth (deg)", "elevation (deg)"]
    assert {point["motion"] for point in motions["points"]} >= {"up", "down", "left", "right"}


def test_the_description_health_and_metrics(client: TestClient) -> None:
    described = client.get("/v1/description").json()
    assert described["model"]["parts"] == {"all": [0, 10], "equivariant": [0, 4], "invariant": [4, 10]}
    assert described["model"]["mapped"] == "equivariant"
    assert [motion["name"] for motion in described["model"]["motions"]] == ["up", "down", "right", "left"]
    assert described["store"]["frames"] == 144
    assert client.get("/health").json() == {"status": "ok"}
    text = client.get("/metrics").text
    assert 'egoequiv_requests_total{route="/health",status="200"}' in text
    assert 'egoequiv_request_seconds_bucket{route="/health",le="+Inf"}' in text
    assert "egoequiv_requests_running 1" in text
    assert "# TYPE process_cpu_seconds_total counter" in text


def test_what_a_model_or_a_service_lacks_is_said(small_store: FrameStore) -> None:
    without_maps = known_service(small_store, maps=False)
    with client_of(without_maps) as client:
        both = {"view": {"frame": 0}, "goal": {"frame": 1}}
        assert client.post("/v1/plan", json=both).status_code == 409
        assert client.post("/v1/next-view", json={"view": {"frame": 0}}).status_code == 409
        after = client.post("/v1/predict", json={"view": {"frame": 0}, "motions": ["up"]})
        assert (after.status_code, "has no maps" in after.json()["detail"]) == (422, True)
    with client_of(Service(without_maps.model)) as client:
        for path in ("/v1/frames/0", "/v1/frames/0/image", "/v1/recordings", "/v1/motions", "/v1/recordings/0/map"):
            answer = client.get(path)
            assert (answer.status_code, "--store" in answer.json()["detail"]) == (409, True), path
        assert client.post("/v1/embed", json={"views": [{"frame": 0}]}).status_code == 409
        picture = {"views": [{"image": text_of(png(small_store.images[0]))}]}
        assert client.post("/v1/embed", json=picture).status_code == 200
        assert client.get("/v1/description").json()["store"] is None
