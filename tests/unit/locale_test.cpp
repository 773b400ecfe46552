// A decimal comma in the locale of the program that uses vqx changes no number, in or out.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <locale>
#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "input/testing.hpp"
#include "metric/options.hpp"
#include "model/model.hpp"
#include "output/number_format.hpp"

namespace vqx {
namespace {

constexpr char kModel[] = R"({"model_dict": {
  "model_type": "LIBSVMNUSVR", "norm_type": "linear_rescale",
  "slopes": [0.015, 1.25], "intercepts": [-0.5, 0.125], "score_clip": [0.5, 99.5],
  "feature_names": ["Cambi_feature_cambi_score"],
  "feature_opts_dicts": [{"cambi_max_val": 17.5}],
  "model": "svm_type nu_svr\nkernel_type rbf\ngamma 0.05\nnr_class 2\ntotal_sv 1\nrho -1.5\nSV\n4.5 1:0.75\n"}})";

// Everything that reads or writes a number, as texts.
std::vector<std::string> numbers() {
  std::vector<std::string> texts;
  for (const char* text : {"0.5", "1.0", "0x1.8p1", "1e-3", " 2.50 ", "0,5", "inf", "1.5x"})
    texts.push_back(normalise_option_text(text));
  PlanBuilder builder(/*strict=*/true);
  EXPECT_TRUE(builder.add("cambi", {{"cambi_max_val", "17.5"}, {"topk", "0.25"}}).ok());
  EXPECT_FALSE(builder.add("cambi", {{"topk", "1.25"}}).ok()) << "the range ends at 1";
  const Result<Plan> plan = std::move(builder).build({320, 200, ChromaFormat::k400, 8});
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (plan.ok()) {
    texts.push_back(plan->instances[0].keys[0]);
    texts.push_back(plan->instances[0].options.text());
  }
  Result<QualityModel> model = parse_model(kModel, "vmaf", {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (model.ok()) {
    model->overload("cambi", "topk", "0.750");
    for (const auto& [name, value] : model->main.features[0].options) texts.push_back(value);
    const Result<double> score = model->main.predict(std::vector<double>{0.25});
    EXPECT_TRUE(score.ok());
    if (score.ok()) texts.push_back(output::NumberFormat::significant(17).print(*score));
  }
  texts.push_back(output::NumberFormat::libvmaf().print(1234567.5));
  return texts;
}

TEST(Locale, DecimalCommaChangesNoNumber) {
  const std::vector<std::string> expected = numbers();
  const std::vector<std::string> start = {"0.5", "1", "3", "0.001", "2.5", "0,5", "inf", "1.5x"};
  ASSERT_GT(expected.size(), start.size());
  EXPECT_EQ(std::vector(expected.begin(), expected.begin() + 8), start);

  const input::testing::TempDir folder;
  const std::string name = "de_DE.UTF-8";
  const std::string make = "localedef -i de_DE -f UTF-8 --no-archive '" + folder.path(name) +
                           "' > '" + folder.path("log") + "' 2>&1";
  if (std::system(make.c_str()) != 0)
    GTEST_SKIP() << "no locale with a decimal comma can be made: install Debian's `locales`";
  setenv("LOCPATH", folder.path("").c_str(), 1);
  std::locale::global(std::locale(name));
  EXPECT_STREQ(std::localeconv()->decimal_point, ",");
  const std::vector<std::string> actual = numbers();
  std::locale::global(std::locale::classic());
  unsetenv("LOCPATH");
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace vqx
