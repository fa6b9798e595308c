// Completes a run with the generated Go client.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	cms "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must[T any](value T, response any, err error) T {
	if err != nil {
		panic(fmt.Sprint(err, response))
	}
	return value
}

func main() {
	configuration := cms.NewConfiguration()
	configuration.Servers = cms.ServerConfigurations{{URL: os.Getenv("BASE")}}
	client := cms.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), cms.ContextAccessToken, os.Getenv("TOKEN"))

	computation := must(client.ComputationsAPI.CreateComputation(ctx, "d1").ComputationInput(*cms.NewComputationInput("Go")).Execute())
	fields := cms.NewAssetInputFields("a.py", "algorithm")
	fields.SetAsset("cHJpbnQoMSk=")
	asset := must(client.AssetsAPI.CreateAsset(ctx, "d1").AssetInput(*cms.NewAssetInput(*fields)).Execute())
	must(client.AssetsAPI.LinkAsset(ctx, "d1", asset.Id, computation.Id).Execute())
	must(client.KeysAPI.UploadKey(ctx, "d1", computation.Id).KeyInput(*cms.NewKeyInput(os.Getenv("KEY"))).Execute())
	started := must(client.RunsAPI.StartRun(ctx, "d1", computation.Id).Cvm("sim-1").Execute())
	runId := strings.Trim(started, "\"") // generated Go leaves the quotes of a JSON string
	run := must(client.RunsAPI.GetRun(ctx, "d1", computation.Id).Execute())
	for !run.EndedAt.IsSet() || run.EndedAt.Get() == nil {
		time.Sleep(200 * time.Millisecond)
		run = must(client.RunsAPI.GetRun(ctx, "d1", computation.Id).Execute())
	}
	view := must(client.ComputationsAPI.GetComputation(ctx, "d1", computation.Id).Execute())
	if run.Id != runId || run.Status != "completed" || view.Run.Get().Status != "completed" {
		panic(fmt.Sprint("not completed: ", run))
	}
	fmt.Println(run.Status)
}
