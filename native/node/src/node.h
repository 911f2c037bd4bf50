#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "clock.h"
#include "comseclab/transport.h"
#include "config.h"
#include "control.h"
#include "identity.h"
#include "layout.h"
#include "receiver.h"
#include "recorder.h"
#include "sender.h"
#include "spool.h"

namespace comseclab {

/// One node of a trial, from its configuration to its records.
class Node {
 public:
  Node(const Config& config, Control& control);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Opens, sends and receives as told by the control line, and returns once stopped and closed. Throws Fatal.
  void run();

 private:
  struct Transport;
  struct Stream;

  void open_transports();
  void open_streams();
  void open_writing(Stream& stream);
  void open_reading(Stream& stream);
  [[nodiscard]] comseclab_writer* advertise(const Stream& stream) const;
  void subscribe(Stream& stream) const;
  void serve();
  void start(const nlohmann::json& command);
  void report_finished();
  void stop();

  const Config& config_;
  Control& control_;
  Clock clock_;
  Nonce nonce_;
  Types types_;
  TransportEvents events_;
  bool memory_locked_;
  std::atomic<bool> flowing_{false};
  std::unique_ptr<Recorder<Send>> sends_;
  std::unique_ptr<Recorder<Receipt>> receipts_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Stream>> streams_;
  uint32_t next_round_ = 0;
  bool sending_ = false;
};

}  // namespace comseclab
