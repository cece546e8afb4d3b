// Publishes and takes with the real Cyclone DDS; prints the source timestamps that the reader saw.
#include <dds/dds.h>
#include <stdio.h>
#include <stddef.h>
#include <dds/ddsi/ddsi_serdata.h>

void ros_trace_rmw_publish(const void *);
struct sample { int32_t number; };
static const uint32_t ops[] = {DDS_OP_ADR | DDS_OP_TYPE_4BY, offsetof(struct sample, number), DDS_OP_RTS};
static const dds_topic_descriptor_t descriptor = {
    .m_size = sizeof(struct sample), .m_align = 4, .m_typename = "sample", .m_nops = 2, .m_ops = ops, .m_meta = ""};

int main(void) {
  dds_entity_t participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  dds_entity_t topic = dds_create_topic(participant, &descriptor, "rostrace_test", NULL, NULL);
  if (topic < 0) { printf("topic: %s\n", dds_strretcode(-topic)); return 2; }
  dds_entity_t reader = dds_create_reader(participant, topic, qos, NULL);
  dds_entity_t writer = dds_create_writer(participant, topic, qos, NULL);
  if (reader < 0 || writer < 0) return 3;
  struct sample sample = {0};
  for (int i = 0; i < 3; i++) {
    sample.number = i;
    ros_trace_rmw_publish(&sample);
    if (dds_write(writer, &sample) != 0) return 4;
  }
  sample.number = 3;
  if (dds_write_ts(writer, &sample, 123456789012345) != 0) return 5;
  // As a serialised message is written.
  struct sample read = {0};
  void *data[1] = {&read};
  dds_sample_info_t info;
  int taken = 0;
  for (int tries = 0; tries < 1000 && taken < 4; tries++) {
    int n = dds_take(reader, data, &info, 1, 1);
    if (n == 1 && info.valid_data) {
      printf("%lld\n", (long long)info.source_timestamp);
      taken++;
      if (taken == 4) {
        struct ddsi_serdata *serdata = NULL;
        dds_write(writer, &sample);
        for (int again = 0; again < 1000; again++) {
          if (dds_takecdr(reader, &serdata, 1, &info, DDS_ANY_STATE) == 1) break;
          dds_sleepfor(DDS_MSECS(1));
        }
        if (!serdata) return 7;
        printf("%lld\n", (long long)info.source_timestamp);
        if (dds_writecdr(writer, serdata) != 0) return 8;
        for (int again = 0; again < 1000; again++) {
          if (dds_take(reader, data, &info, 1, 1) == 1) break;
          dds_sleepfor(DDS_MSECS(1));
        }
        printf("%lld\n", (long long)info.source_timestamp);
      }
    } else {
      dds_sleepfor(DDS_MSECS(1));
    }
  }
  dds_delete_qos(qos);
  dds_delete(participant);
  return taken == 4 ? 0 : 6;
}
