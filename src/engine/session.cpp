#include "vqx/session.hpp"

#include <optional>
#include <utility>

#include "base/simd.hpp"
#include "engine/engine.hpp"
#include "engine/model_set.hpp"
#include "input/pairing.hpp"
#include "input/video_source.hpp"

namespace vqx {

class Session::Impl {
 public:
  std::unique_ptr<Engine> engine;
};

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
  for (const FeatureSpec& feature : options.features)
    VQX_RETURN_IF_ERROR(builder.add(feature.name, feature.options));
  VQX_ASSIGN_OR_RETURN(Plan plan, std::move(builder).build(format));

  EngineOptions engine_options;
  engine_options.threads = options.threads;
  engine_options.frames_in_flight = options.frames_in_flight;
  engine_options.subsample = options.subsample;
  engine_options.first = options.first;
  engine_options.count = options.count;
  auto impl = std::make_unique<Impl>();
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
