import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node on loopback: data folder, HTTP port, transport port. */
public class OpenSearchNode extends Node {
    OpenSearchNode(Settings settings) {
        super(
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"),
            List.of(Netty4Plugin.class, PainlessPlugin.class),
            false
        );
    }

    public static void main(String[] args) throws Exception {
        Settings settings = Settings.builder()
            .put("path.home", args[0])
            .put("http.port", args[1])
            .put("transport.port", args[2])
            .put("network.host", "127.0.0.1")
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("cluster.name", "outrider-test")
            .put("node.name", "test")
            .put("discovery.type", "single-node")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        new OpenSearchNode(settings).start();
        System.out.println("started");
        // Killed like any server by whoever runs the tests; and if they are gone, it goes too.
        while (System.in.read() >= 0) {}
        System.exit(0);
    }
}
