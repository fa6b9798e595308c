# Completes a run with the generated Python client.
import os
import time

import cms
from cms import models

client = cms.ApiClient(cms.Configuration(host=os.environ["BASE"], access_token=os.environ["TOKEN"]))
computations, assets = cms.ComputationsApi(client), cms.AssetsApi(client)
runs, keys, events = cms.RunsApi(client), cms.KeysApi(client), cms.EventsApi(client)

computation = computations.create_computation("d1", models.ComputationInput(name="Python"))
fields = models.AssetInputFields(file_name="a.py", asset_type="algorithm", asset="cHJpbnQoMSk=")
asset = assets.create_asset("d1", models.AssetInput(asset=fields))
assets.link_asset("d1", asset.id, computation.id)
try:
    runs.start_run("d1", computation.id, cvm="sim-1")
except cms.ApiException as error:
    assert (error.status, error.data.code, error.data.missing_items.keys) == (422, "incomplete", ["alice"]), error
keys.upload_key("d1", computation.id, models.KeyInput(key=os.environ["KEY"]))
run_id = runs.start_run("d1", computation.id, cvm="sim-1")
while (run := runs.get_run("d1", computation.id)).ended_at is None:
    time.sleep(0.2)
assert (str(run.id), run.status) == (str(run_id), "completed"), run
assert computations.get_computation("d1", computation.id).run.status == "completed"
assert computations.get_computation("d1", computation.id, peek="true").run is None
journal = events.list_events("d1", computation.id, limit=100).events
assert "completed" in [event.event_type for event in journal], journal  # the CVM may report more after it
print(run.status)
