// What a node asks of IceStorm beside its messages: connecting, subscribing, counting. One thread does it, so that a
// slow link holds up neither the node's start nor its messages.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <string>
#include <thread>

namespace comseclab::ice {

class Session {
 public:
  using Failed = std::function<void(const std::string&)>;

  // `poll` is called again and again between the steps, and says when it wants to be called next.
  explicit Session(std::function<std::chrono::milliseconds()> poll);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs `work` after all steps before it, and waits for it as long as patience lasts; what it throws by then is thrown
  // here. Later it goes on by itself, and what it throws goes to `failed`.
  void step(std::function<void()> work, Failed failed);

  // No step or poll begins after this; the one at work goes on.
  void stop();

 private:
  void run();

  const std::function<std::chrono::milliseconds()> poll_;
  const std::chrono::steady_clock::time_point patient_until_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> steps_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace comseclab::ice
