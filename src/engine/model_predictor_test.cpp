// A model over PSNR: its features are registered once, its scores come out of the engine.
#include "engine/model_predictor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "verify/cases.hpp"

namespace vqx {
namespace {

constexpr VideoFormat kFormat{32, 16, ChromaFormat::k420, 8};

// Main model and two bootstrap members, which differ in rho.
QualityModel psnr_collection() {
  const auto member = [](const char* type, const char* rho) {
    return std::string(R"({"model_dict":{"model_type":")") + type +
           R"(","norm_type":"linear_rescale","slopes":[0.01,0.02,0.03],"intercepts":[-0.3,0,-0.1],)"
           R"("feature_names":["psnr_y","psnr_cb"],"feature_opts_dicts":[{"min_sse":0.5}],)"
           R"("score_clip":[0,1000],"model":"svm_type nu_svr\nkernel_type rbf\ngamma 0.5\n)"
           R"(nr_class 2\ntotal_sv 2\nrho )" +
           rho + R"(\nSV\n4 1:1 2:0.5\n-1.5 2:1\n"}})";
  };
  const std::string json = R"({"0":)" + member("LIBSVMNUSVR", "-0.25") + R"(,"1":)" +
                           member("BOOTSTRAP_LIBSVMNUSVR", "-0.2") + R"(,"2":)" +
                           member("BOOTSTRAP_LIBSVMNUSVR", "-0.35") + "}";
  Result<QualityModel> model = parse_model(json, "q", {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

TEST(ModelPredictor, ScoresOfModelAndCollectionInReportOrder) {
  const auto model = std::make_shared<const QualityModel>(psnr_collection());
  PlanBuilder builder(/*strict=*/true);
  std::vector<std::unique_ptr<Predictor>> predictors;
  std::vector<std::unique_ptr<Predictor>> collections;
  ASSERT_TRUE(add_model(model, builder, predictors, collections).ok());
  ASSERT_EQ(predictors.size(), 1U);
  ASSERT_EQ(collections.size(), 1U);
  predictors.push_back(std::move(collections[0]));
  Result<Plan> plan = std::move(builder).build(kFormat);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  // All six inputs come from one extractor: its options do not count in keys.
  EXPECT_EQ(plan->instances.size(), 1U);
  auto engine = Engine::create(std::move(*plan), std::move(predictors), {});
  ASSERT_TRUE(engine.ok()) << engine.status().message();

  constexpr int kFrames = 3;
  for (int i = 0; i < kFrames; ++i) {
    Picture pictures[2];
    for (int side = 0; side < 2; ++side) {
      pictures[side] = Picture::allocate(kFormat).value();
      for (int plane = 0; plane < 3; ++plane)
        for (int y = 0; y < kFormat.plane_height(plane); ++y)
          for (int x = 0; x < kFormat.plane_width(plane); ++x)
            pictures[side].mutable_row<std::uint8_t>(plane, y)[x] =
                static_cast<std::uint8_t>(5 * x + 9 * y + side * ((x * y + i) % 7));
    }
    ASSERT_TRUE((*engine)->push(pictures[0], pictures[1]).ok());
  }
  ASSERT_TRUE((*engine)->finish().ok());

  const Scores& scores = (*engine)->scores();
  std::vector<std::string> keys = {"q"};
  for (const std::string& key : model->collection_keys()) keys.push_back(key);
  ASSERT_GE(scores.series().size(), keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    EXPECT_EQ(scores.series()[scores.series().size() - keys.size() + k].key, keys[k]);
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    const std::vector<double> values = {*scores.find("psnr_y")->at(frame),
                                        *scores.find("psnr_cb")->at(frame)};
    const double expected = model->main.predict(values).value();
    EXPECT_GT(expected, 0);
    EXPECT_LT(expected, 1000);
    EXPECT_EQ(scores.find("q")->at(frame), expected);
    std::vector<double> expected_set(keys.size() - 1);
    const std::vector<double> inputs = {values[0], values[1], values[0], values[1]};
    ASSERT_TRUE(model->predict_collection(inputs, expected_set).ok());
    for (std::size_t k = 1; k < keys.size(); ++k)
      EXPECT_EQ(scores.find(keys[k])->at(frame), expected_set[k - 1]) << keys[k];
  }
}

TEST(ModelPredictor, FeatureThatNoMetricProvides) {
  QualityModel model = psnr_collection();
  model.main.features[0].name = "VMAF_feature_ansnr_score";
  PlanBuilder builder(/*strict=*/false);
  std::vector<std::unique_ptr<Predictor>> predictors;
  const Status status =
      add_model(std::make_shared<const QualityModel>(model), builder, predictors, predictors);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("VMAF_feature_ansnr_score"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace vqx
