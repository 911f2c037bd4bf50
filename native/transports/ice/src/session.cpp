#include "session.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "errors.hpp"

namespace comseclab::ice {
namespace {

// For all steps of a node's start together: long for a broker that is there, short for someone who waits.
constexpr std::chrono::seconds kPatience{5};

// A step's outcome goes to whoever still waits for it.
class Outcome {
 public:
  explicit Outcome(Session::Failed failed) : failed_(std::move(failed)) {}

  void set(std::optional<std::string> failure) {
    const std::lock_guard lock(mutex_);
    if (!awaited_ && failure) failed_(*failure);
    failure_ = std::move(failure);
    done_ = true;
    changed_.notify_all();
  }

  // Throws what the step ended with; returns also when it has not ended in time.
  void await(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return done_; });
    awaited_ = false;
    if (done_ && failure_) throw std::runtime_error(*failure_);
  }

 private:
  const Session::Failed failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool awaited_ = true;
  bool done_ = false;
  std::optional<std::string> failure_;
};

}  // namespace

Session::Session(std::function<std::chrono::milliseconds()> poll)
    : poll_(std::move(poll)),
      patient_until_(std::chrono::steady_clock::now() + kPatience),
      thread_([this] { run(); }) {}

Session::~Session() {
  stop();
  thread_.join();
}

void Session::step(std::function<void()> work, Failed failed) {
  const auto outcome = std::make_shared<Outcome>(std::move(failed));
  {
    const std::lock_guard lock(mutex_);
    steps_.push([work = std::move(work), outcome] {
      try {
        work();
        outcome->set(std::nullopt);
      } catch (const std::exception& exception) {
        outcome->set(one_line(exception));
      }
    });
  }
  changed_.notify_all();
  outcome->await(patient_until_);
}

void Session::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void Session::run() {
  std::chrono::milliseconds pause{0};
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (!changed_.wait_for(lock, pause, [this] { return stopped_ || !steps_.empty(); })) {
      lock.unlock();
      pause = poll_();
      lock.lock();
      continue;
    }
    if (stopped_) return;
    const auto next = std::move(steps_.front());
    steps_.pop();
    lock.unlock();
    next();
    pause = std::chrono::milliseconds{0};
    lock.lock();
  }
}

}  // namespace comseclab::ice
