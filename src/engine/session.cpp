#include "vqx/session.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "backend/pinned_memory.hpp"
#include "base/simd.hpp"
#include "engine/backend_choice.hpp"
#include "engine/engine.hpp"
#include "engine/model_set.hpp"
#include "input/pairing.hpp"
#include "input/picture_pool.hpp"
#include "input/video_source.hpp"

namespace vqx {

class Session::Impl {
 public:
  Impl(const VideoFormat& format, std::shared_ptr<backend::PinnedMemory> pinned)
      : memory(std::move(pinned)), pictures(format, memory) {}

  std::shared_ptr<backend::PinnedMemory> memory;
  input::PicturePool pictures;
  std::map<std::string, std::string> backends;  // by metric
  std::unique_ptr<Engine> engine;
};

namespace {

BackendChoice backend_choice(const SessionOptions& options) {
  BackendChoice choice;
  choice.backend = options.backend == "auto" ? best_backend() : options.backend;
  choice.devices = options.devices;
  choice.all_devices = options.all_devices;
  choice.pinned = std::make_shared<backend::PinnedMemory>();
  return choice;
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(const VideoFormat& format,
                                                 const SessionOptions& options) {
  VQX_RETURN_IF_ERROR(select_simd_level_from_environment());
  PlanBuilder builder(/*strict=*/true);
  ModelSet models;
  for (const ModelSpec& model : options.models) {
    std::string step;
    VQX_RETURN_IF_ERROR(models.add(model, builder, step));
  }
  BackendChoice choice = backend_choice(options);
  std::vector<FeatureSpec> features = options.features;
  VQX_RETURN_IF_ERROR(take_backends_from_names(features, choice));
  for (const FeatureSpec& feature : features)
    VQX_RETURN_IF_ERROR(builder.add(feature.name, feature.options));
  VQX_ASSIGN_OR_RETURN(Plan plan, std::move(builder).build(format));
  VQX_ASSIGN_OR_RETURN(const Placements placements, place(plan, choice));

  auto impl = std::make_unique<Impl>(format, choice.pinned);
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    impl->backends[std::string(plan.groups[g].info->name)] = vqx::backend_of(placements, g);
  EngineOptions engine_options;
  engine_options.threads = options.threads + frames_in_flight(placements);
  engine_options.frames_in_flight = options.frames_in_flight;
  engine_options.subsample = options.subsample;
  engine_options.first = options.first;
  engine_options.count = options.count;
  engine_options.placements = placements;
  VQX_ASSIGN_OR_RETURN(
      impl->engine,
      Engine::create(std::move(plan), std::move(models).take_predictors(), engine_options));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

int Session::start() const {
  return impl_->engine->start();
}
bool Session::wants_more() const {
  return impl_->engine->wants_more();
}
Result<Picture> Session::new_picture() {
  return impl_->pictures.acquire();
}
Status Session::push(Picture reference, Picture distorted) {
  return impl_->engine->push(std::move(reference), std::move(distorted));
}
Status Session::finish() {
  return impl_->engine->finish();
}
void Session::cancel() {
  impl_->engine->cancel();
}
Result<double> Session::score(const std::string& key, int index) {
  return impl_->engine->score(key, index);
}
const Scores& Session::scores() const {
  return impl_->engine->scores();
}
std::string Session::backend_of(const std::string& metric) const {
  const auto found = impl_->backends.find(metric);
  return found == impl_->backends.end() ? std::string() : found->second;
}

Result<Scores> score_files(const std::string& reference, const std::string& distorted,
                           const SessionOptions& options) {
  VQX_ASSIGN_OR_RETURN(const auto first, input::open_source(reference));
  VQX_ASSIGN_OR_RETURN(const auto second, input::open_source(distorted));
  VQX_RETURN_IF_ERROR(input::check_pair(*first, *second, {}).status());
  VQX_ASSIGN_OR_RETURN(const auto session, Session::create(first->format(), options));
  VQX_RETURN_IF_ERROR(first->skip(session->start()));
  VQX_RETURN_IF_ERROR(second->skip(session->start()));
  for (int index = session->start(); session->wants_more(); ++index) {
    VQX_ASSIGN_OR_RETURN(std::optional<Picture> one, first->read());
    VQX_ASSIGN_OR_RETURN(std::optional<Picture> other, second->read());
    if (!one && !other) break;
    if (!one || !other)
      return one ? input::ended_early(*second, index, *first)
                 : input::ended_early(*first, index, *second);
    VQX_RETURN_IF_ERROR(session->push(*std::move(one), *std::move(other)));
  }
  VQX_RETURN_IF_ERROR(session->finish());
  return session->scores();
}

}  // namespace vqx
