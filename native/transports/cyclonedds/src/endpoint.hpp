// One stream's sending or receiving end: the DDS entity, its listener, its counters.
#pragma once

#include <dds/dds.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "comseclab/transport.h"
#include "qos.hpp"
#include "reporter.hpp"

struct ddsi_sertype;

namespace comseclab::cyclonedds {

using Listener = std::unique_ptr<dds_listener_t, decltype(&dds_delete_listener)>;

struct EndpointRequest {
  dds_entity_t participant;
  dds_entity_t topic;
  const dds_qos_t* qos;
};

}  // namespace comseclab::cyclonedds

struct comseclab_writer {
  explicit comseclab_writer(comseclab::dds::Reporter reporter) : report(reporter) {}

  // False where Cyclone DDS refuses; its log says why.
  bool create(const comseclab::cyclonedds::EndpointRequest& request, const ddsi_sertype* type);
  comseclab_status publish(const uint8_t* bytes, size_t size, comseclab_error* error);
  [[nodiscard]] nlohmann::json statistics() const;

  comseclab::dds::Reporter report;
  dds_entity_t entity = 0;
  const ddsi_sertype* type = nullptr;
  std::atomic<uint64_t> taken = 0;
  std::atomic<uint64_t> timed_out = 0;
};

struct comseclab_reader {
  comseclab_reader(comseclab::dds::Reporter reporter, comseclab_on_message message, void* context)
      : report(reporter), on_message(message), message_context(context) {}

  // False where Cyclone DDS refuses; its log says why.
  bool create(const comseclab::cyclonedds::EndpointRequest& request);
  void take_all();
  [[nodiscard]] nlohmann::json statistics() const;

  comseclab::dds::Reporter report;
  comseclab_on_message on_message;
  void* message_context;
  dds_entity_t entity = 0;
  std::atomic<uint64_t> delivered = 0;
  std::atomic<uint64_t> lost = 0;
  std::atomic<uint64_t> rejected = 0;
  std::atomic<uint64_t> malformed = 0;

 private:
  comseclab_sender sender_of(dds_instance_handle_t writer);

  dds_instance_handle_t known_writer_ = 0;  // whose GUID is known; only the thread that delivers uses these two
  comseclab_sender known_sender_{};
};
